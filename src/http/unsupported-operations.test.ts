import { describe, expect, it } from 'vitest';
import { findQueryReason, findUnsupportedReason } from './unsupported-operations.ts';

const organization = '/v1/organizations/7c0e4a34-3c0e-4f0b-9c4e-1d2f3a4b5c6d';
const service = `${organization}/services/0d8f2f2e-6b1a-4b0e-8f57-2b6d3c1a9e11`;

describe('operations of the hosted service that do not exist here', () => {
  it.each([
    ['GET', `${organization}/members`, /no user accounts/],
    ['GET', `${organization}/byocInfrastructure/x/tags`, /cloud accounts/],
    ['PUT', `${service}/upgradeWindow`, /upgrade/],
    ['GET', `${service}/clickstack/alerts`, /dashboards and sources/],
    ['PATCH', organization, /fleet file/],
  ])('%s %s has a reason', (method, path, reason) => {
    expect(findUnsupportedReason(method, path)).toMatch(reason);
  });

  it.each([
    ['GET', '/v1/other'],
    ['GET', `${organization}/constructor`],
    ['DELETE', organization],
    ['PATCH', '/v1/organizations'],
    ['GET', `${service}/nothing`],
    ['GET', '/api/v2/members'],
  ])('%s %s has none', (method, path) => {
    expect(findUnsupportedReason(method, path)).toBeUndefined();
  });

  it('a statement for the hosted query service has a reason, other paths have none', () => {
    expect(findQueryReason('/service/0d8f2f2e-6b1a-4b0e-8f57-2b6d3c1a9e11/run')).toMatch(/does not run queries/);
    for (const path of ['/service//run', '/service/x/y/run', '/services/x/run', '/v1/service/x/run'])
      expect(findQueryReason(path)).toBeUndefined();
  });
});
