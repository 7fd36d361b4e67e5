import { MAX_STATEMENT_CHARACTERS } from './request-url.ts';
import { normalizeStatement } from './statement.ts';

export interface UseRules {
  /** Whether a query does not count as use of its service. `statement` is undefined unless it is known completely. */
  isIgnored(userAgent: string, statement: string | undefined): boolean;
}

/** Probes of monitoring tools must not keep a service from idling. */
export function createUseRules(options: {
  /** The beginnings of the user agents whose queries are ignored. */
  ignoredAgents: readonly string[];
  ignoredStatements: readonly string[];
}): UseRules {
  const agents = options.ignoredAgents.filter((agent) => agent !== '');
  const statements = new Set(options.ignoredStatements.map(normalizeStatement));
  return {
    isIgnored(userAgent, statement) {
      if (agents.some((agent) => userAgent.startsWith(agent))) return true;
      // The text of a longer statement was cut.
      if (statement === undefined || statement.length >= MAX_STATEMENT_CHARACTERS) return false;
      return statements.size > 0 && statements.has(normalizeStatement(statement));
    },
  };
}
