import { AppError } from '../../kernel/errors.ts';
import type { Clock } from '../../kernel/time/clock.ts';
import type { Actor } from '../../management/audit/activity.ts';
import type { Organizations } from '../../management/organizations/organizations.ts';
import { hashSecret, newSetupCode } from '../../platform/credentials/secrets.ts';
import type { State } from '../../platform/state/state.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { declareFirstOrganization, type NewOrganization } from './first-organization.ts';
import { deleteOldSetupCodes, hasSetupCode, insertSetupCode } from './store.ts';

interface Options {
  state: State;
  clock: Clock;
  organizations: Organizations;
  fleet: Pick<Fleet, 'apply'>;
}

/** A server that restarts again and again, or many nodes: older codes stop working. */
const MAX_CODES = 20;

export type Setup = ReturnType<typeof createSetup>;

/** Creates the first organization of a store. Further ones are declared in a fleet file. */
export function createSetup({ state, clock, organizations, fleet }: Options) {
  let isDone = false;

  /** Organizations are never removed, so the store is asked only until there is one. */
  async function isNeeded(): Promise<boolean> {
    isDone ||= await organizations.exist(state.db);
    return !isDone;
  }

  return {
    isNeeded,

    /** A new code that is valid on every node until the first organization exists; undefined if one does. Stores its hash. */
    async issueCode(): Promise<string | undefined> {
      if (!(await isNeeded())) return undefined;
      const code = newSetupCode();
      await state.write(async (tx) => {
        await deleteOldSetupCodes(tx, MAX_CODES - 1);
        await insertSetupCode(tx, hashSecret(code), clock.now());
      });
      return code;
    },

    /**
     * Creates the organization and its admin key. Of several calls at the same time, on any node, one succeeds. `code`:
     * required of a browser; a command has access to the store already.
     */
    async create(actor: Actor, wanted: NewOrganization, { code }: { code?: string } = {}) {
      const { organization, credentials, text, file } = declareFirstOrganization(wanted);
      await fleet.apply(file, actor, {
        isDeclaration: false,
        async check(tx) {
          if (await organizations.exist(tx))
            throw new AppError('conflict', 'An organization already exists; sign in with one of its keys');
          if (code !== undefined && !(await hasSetupCode(tx, hashSecret(code))))
            throw new AppError('unauthorized', 'The setup code is not valid');
          await deleteOldSetupCodes(tx, 0);
        },
      });
      return { organization, credentials, fleetFile: text };
    },
  };
}
