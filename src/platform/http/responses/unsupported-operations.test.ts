import { describe, expect, it } from 'vitest';
import { findMissingMethodReason, findQueryReason } from './unsupported-operations.ts';

const organization = '/v1/organizations/7c0e4a34-3c0e-4f0b-9c4e-1d2f3a4b5c6d';

describe('operations of the hosted service that do not exist here', () => {
  it('a method that is missing at a path has a reason, others have none', () => {
    expect(findMissingMethodReason('PATCH', organization)).toMatch(/fleet file/);
    for (const [method, path] of [
      ['DELETE', organization],
      ['PATCH', '/v1/organizations'],
      ['PATCH', `${organization}/members`],
    ] as const)
      expect(findMissingMethodReason(method, path)).toBeUndefined();
  });

  it('a statement for the hosted query service has a reason, other paths have none', () => {
    expect(findQueryReason('/service/0d8f2f2e-6b1a-4b0e-8f57-2b6d3c1a9e11/run')).toMatch(/does not run queries/);
    for (const path of ['/service//run', '/service/x/y/run', '/services/x/run', '/v1/service/x/run'])
      expect(findQueryReason(path)).toBeUndefined();
  });
});
