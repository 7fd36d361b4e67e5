import type { Attributes } from '../../../observability/own-telemetry/rows.ts';

export interface Pod {
  service: ServiceName;
  name: string;
  resource: Attributes;
}

export type ServiceName = 'gateway' | 'search' | 'checkout' | 'payments' | 'ingest';

interface Service {
  version: string;
  pods: readonly [Pod, ...Pod[]];
  /** Requests per second at peak load. */
  peakPerSecond: number;
  medianSeconds: number;
  /** The standard deviation of the logarithm of the latency. */
  spread: number;
  /** The share of requests that fail outside the incident. */
  errors: number;
}

function pod(service: ServiceName, version: string, suffix: string, region: string): Pod {
  const name = `${service}-${suffix}`;
  return {
    service,
    name,
    resource: {
      'service.name': service,
      'service.version': version,
      'deployment.environment': 'production',
      'cloud.region': region,
      'k8s.pod.name': name,
    },
  };
}

/** A small shop: gateway → search, and gateway → checkout → payments → its database; ingest reads a queue. */
export const SERVICES: Record<ServiceName, Service> = {
  gateway: {
    version: '2.31.0',
    pods: [
      pod('gateway', '2.31.0', '6c8d9f7b5-x2k4p', 'eu-central-1'),
      pod('gateway', '2.31.0', '6c8d9f7b5-m7q9t', 'eu-west-1'),
    ],
    peakPerSecond: 120,
    medianSeconds: 0.045,
    spread: 0.6,
    errors: 0.002,
  },
  search: {
    version: '5.4.2',
    pods: [
      pod('search', '5.4.2', '7f5b6d4c8-h3v8n', 'eu-central-1'),
      pod('search', '5.4.2', '7f5b6d4c8-z9w2c', 'eu-west-1'),
    ],
    peakPerSecond: 84,
    medianSeconds: 0.028,
    spread: 0.5,
    errors: 0.002,
  },
  checkout: {
    version: '3.8.1',
    pods: [pod('checkout', '3.8.1', '5d7c9b8f6-r4t6y', 'eu-central-1')],
    peakPerSecond: 24,
    medianSeconds: 0.14,
    spread: 0.45,
    errors: 0.003,
  },
  payments: {
    version: '4.12.1',
    pods: [pod('payments', '4.12.1', '84b6f5d9c-k8j2w', 'eu-central-1')],
    peakPerSecond: 24,
    medianSeconds: 0.08,
    spread: 0.4,
    errors: 0.003,
  },
  ingest: {
    version: '1.19.0',
    pods: [pod('ingest', '1.19.0', '66d4c7b9f-p5n3d', 'eu-central-1')],
    peakPerSecond: 12,
    medianSeconds: 0.06,
    spread: 0.5,
    errors: 0.001,
  },
};

export const SERVICE_NAMES = Object.keys(SERVICES) as ServiceName[];
