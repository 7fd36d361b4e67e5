/** The providers and regions of the public interface. Its clients reject a record with any other value. */
const REGIONS = {
  aws: [
    'ap-northeast-1',
    'ap-northeast-2',
    'ap-south-1',
    'ap-southeast-1',
    'ap-southeast-2',
    'ca-central-1',
    'eu-central-1',
    'eu-west-1',
    'eu-west-2',
    'il-central-1',
    'us-east-1',
    'us-east-2',
    'us-west-2',
  ],
  gcp: ['us-east1', 'us-central1', 'europe-west2', 'europe-west4', 'asia-southeast1', 'asia-northeast1'],
  azure: ['eastus', 'eastus2', 'westus3', 'germanywestcentral', 'centralus'],
} as const;

export type Provider = keyof typeof REGIONS;
export const PROVIDERS = Object.keys(REGIONS) as Provider[];
export const ALL_REGIONS = Object.values(REGIONS).flat();
export type Region = (typeof ALL_REGIONS)[number];

export const hasRegion = (provider: Provider, region: Region): boolean =>
  (REGIONS[provider] as readonly string[]).includes(region);
