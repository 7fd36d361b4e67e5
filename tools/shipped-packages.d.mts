export interface ShippedPackage {
  path: string;
  name: string;
  version: string;
  license: string;
  isInstalled: boolean;
  isBundled: boolean;
}
export function isAllowedLicense(license: string): boolean;
export function listShippedPackages(): ShippedPackage[];
