import { AppError } from '../../../kernel/errors.ts';
import { type Clock, SECOND_MS } from '../../../kernel/time/clock.ts';
import type { Engine } from '../../../platform/engine/engine.ts';
import { readEngineIdentities } from '../../../platform/engine/identity.ts';
import type { State } from '../../../platform/state/state.ts';
import type { Db } from '../../../platform/state/tables.ts';
import { bindEngine, findBoundEngine, hasAcceptedUsage } from './engine-store.ts';

interface Options {
  state: State;
  engine: Engine;
  clock: Clock;
}

/** How the engine differs from the one whose events the store has rated. */
export type Mismatch = 'different' | 'empty' | 'older';

export const REMEDY =
  'restore the engine directory that belongs to this store, or run pilothouse usage adopt-engine to continue with this engine';

/** The identity cannot change while an engine runs, but another server may take its place behind the same URL. */
const IDENTITY_CACHE_MS = 5 * SECOND_MS;
const RETRY_SECONDS = 30;

export type EngineBinding = ReturnType<typeof createEngineBinding>;

/**
 * Binds the store to the engine that holds its usage events. Usage is neither accepted into another engine, which does
 * not know the ids that were counted, nor rated from one, which would book the missing events as no usage.
 */
export function createEngineBinding({ state, engine, clock }: Options) {
  let cached: { identities: Promise<[string, ...string[]]>; readAt: number } | undefined;
  /** The identities that were read last. A transaction must not wait for the engine. */
  let known: readonly string[] = [];

  function readIdentities(): Promise<[string, ...string[]]> {
    if (cached && clock.monotonicMs() - cached.readAt < IDENTITY_CACHE_MS) return cached.identities;
    const entry = { identities: readEngineIdentities(engine), readAt: clock.monotonicMs() };
    cached = entry;
    entry.identities.then(
      (identities) => {
        known = identities;
      },
      // A failure is not cached.
      () => {
        if (cached === entry) cached = undefined;
      },
    );
    return entry.identities;
  }

  async function isEmpty(): Promise<boolean> {
    const rows = await engine.query({ sql: 'SELECT 1 FROM pilothouse.usage_events LIMIT 1', parameters: {} });
    return rows.length === 0;
  }

  /** Binds a store that has no usage, or one from before engines had an identity. */
  async function tryToBind(identities: readonly [string, ...string[]], engineIsEmpty: boolean): Promise<boolean> {
    const [identity] = identities;
    const now = await state.now();
    return state.write(async (tx) => {
      const bound = await findBoundEngine(tx);
      if (bound !== undefined && identities.includes(bound)) return true;
      const mayBind = !(await hasAcceptedUsage(tx)) || (bound === undefined && !engineIsEmpty);
      if (mayBind) await bindEngine(tx, identity, now);
      return mayBind;
    });
  }

  const isBound = async (identities: readonly string[]): Promise<boolean> =>
    identities.includes((await findBoundEngine(state.db)) ?? '');

  return {
    isEmpty,

    /** As `findMismatch`, but binds nothing. */
    async inspect(): Promise<'different' | 'empty' | undefined> {
      if ((await isBound(await readIdentities())) || !(await hasAcceptedUsage(state.db))) return undefined;
      if (await isEmpty()) return 'empty';
      return (await findBoundEngine(state.db)) === undefined ? undefined : 'different';
    },

    /** Undefined if the store is bound to this engine; binds it first if it may. */
    async findMismatch(): Promise<'different' | 'empty' | undefined> {
      const identities = await readIdentities();
      if (await isBound(identities)) return undefined;
      const engineIsEmpty = await isEmpty();
      if (await tryToBind(identities, engineIsEmpty)) return undefined;
      return engineIsEmpty ? 'empty' : 'different';
    },

    /** Throws unless the store is still bound to this engine. For the transaction that relies on `findMismatch`. */
    async require(tx: Db): Promise<void> {
      const bound = await findBoundEngine(tx);
      if (bound === undefined || !known.includes(bound)) throw wrongEngine('different');
    },

    /** The identity to bind the store to. */
    getIdentity: async (): Promise<string> => (await readIdentities())[0],
  };
}

export const wrongEngine = (mismatch: Mismatch): AppError =>
  new AppError('unavailable', `Usage is not accepted: ${describeMismatch(mismatch)}; ${REMEDY}`, {
    retryAfterSeconds: RETRY_SECONDS,
  });

const DESCRIPTIONS: Record<Mismatch, string> = {
  different: 'the usage events of this store are in another engine',
  empty: 'the engine has none of the usage events that this store has accepted',
  older: 'the engine has fewer usage events than this store has accepted',
};

export const describeMismatch = (mismatch: Mismatch): string => DESCRIPTIONS[mismatch];
