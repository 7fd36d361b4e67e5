import type { Service, ServiceChange } from '../../../api/types.ts';

/** State of the form: one text per entry of a list. */
interface ServiceDraft {
  name: string;
  addresses: string[];
  /** `key` or `key=value`. */
  tags: string[];
}

const formatTag = ({ key, value }: { key: string; value?: string | undefined }): string =>
  value ? `${key}=${value}` : key;

function parseTag(text: string): { key: string; value?: string } {
  const end = text.indexOf('=');
  return end < 0 ? { key: text } : { key: text.slice(0, end), value: text.slice(end + 1) };
}

export const createServiceDraft = ({ name, ipAccessList = [], tags = [] }: Service): ServiceDraft => ({
  name,
  addresses: ipAccessList.map(({ source }) => source),
  tags: tags.map(formatTag),
});

/** Only what changed, so that concurrent changes to other entries are kept. */
export function toServiceChange(service: Service, draft: ServiceDraft): ServiceChange {
  const before = createServiceDraft(service);
  const compare = (old: readonly string[], next: readonly string[]) => ({
    added: next.filter((entry) => !old.includes(entry)),
    removed: old.filter((entry) => !next.includes(entry)),
  });
  const addresses = compare(before.addresses, draft.addresses);
  const tags = compare(before.tags, draft.tags);
  const toSource = (source: string) => ({ source });
  return {
    ...(draft.name.trim() === service.name ? {} : { name: draft.name.trim() }),
    ipAccessList: { add: addresses.added.map(toSource), remove: addresses.removed.map(toSource) },
    tags: { add: tags.added.map(parseTag), remove: tags.removed.map(parseTag) },
  };
}
