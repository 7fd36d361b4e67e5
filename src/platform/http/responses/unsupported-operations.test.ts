import { describe, expect, it } from 'vitest';
import { findQueryReason } from './unsupported-operations.ts';

describe('operations of the hosted service that do not exist here', () => {
  it('a statement for the hosted query service has a reason, other paths have none', () => {
    expect(findQueryReason('/service/0d8f2f2e-6b1a-4b0e-8f57-2b6d3c1a9e11/run')).toMatch(/does not run queries/);
    for (const path of ['/service//run', '/service/x/y/run', '/services/x/run', '/v1/service/x/run'])
      expect(findQueryReason(path)).toBeUndefined();
  });
});
