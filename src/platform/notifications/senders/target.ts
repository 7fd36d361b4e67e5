/** The services that a channel can have. The first three are those of the public interface. */
export const SERVICES = ['slack', 'generic', 'incidentio', 'teams', 'pagerduty', 'email'] as const;
export type Service = (typeof SERVICES)[number];

/** Where a notification is sent, with all secrets. */
export type Target = HttpTarget | MailTarget;

export interface HttpTarget {
  service: Exclude<Service, 'email'>;
  url: string;
  /** Signs the requests: generic, incidentio. */
  secret?: string | undefined;
  /** generic and incidentio. */
  headers?: Readonly<Record<string, string>> | undefined;
  queryParams?: Readonly<Record<string, string>> | undefined;
  /** A template. */
  body?: string | undefined;
  /** How long an attempt may take. */
  timeoutMs: number;
  /** pagerduty. */
  routingKey?: string | undefined;
}

export interface MailTarget {
  service: 'email';
  to: readonly string[];
}
