import type { Reporter, TestCase } from 'vitest/node';

const found: TestCase[] = [];

/** Lists the tests that passed only when repeated. */
export const repeatedTests: Reporter = {
  onTestCaseResult(test) {
    if (test.diagnostic()?.flaky) found.push(test);
  },
  onTestRunEnd() {
    if (found.length === 0) return;
    const names = found.map(({ module, fullName }) => `  ${module.relativeModuleId} > ${fullName}`);
    console.warn(`\nPassed only when repeated, which is a defect:\n${names.join('\n')}\n`);
  },
};
