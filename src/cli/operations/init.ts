import { NAME_LENGTH } from '../../management/keys/schema.ts';
import { TIERS } from '../../management/organizations/organization.ts';
import { STORE_SETTINGS } from '../../server/settings/settings.ts';
import { defineCommand } from '../command.ts';
import { jsonOption, oneOf, option, requiredOption, textWithin } from '../parameters.ts';

const DEFAULT_TIER = 'SCALE';

export const init = defineCommand({
  name: 'init',
  summary: 'Create the first organization of a store, and print its admin key, which is shown only once',
  settings: STORE_SETTINGS,
  mayCreateStore: true,
  options: {
    name: requiredOption('<name>', 'Name of the organization', textWithin(NAME_LENGTH)),
    tier: option('<tier>', `Tier: ${TIERS.join(', ')}; ${DEFAULT_TIER} if omitted`, oneOf(TIERS)),
    fleetOut: option('<file>', 'Write the organization to a new fleet file, with hashes instead of secrets'),
    json: jsonOption,
  },
  run: ({ withDomains, actor, writeNewFile, options: { name, tier = DEFAULT_TIER, fleetOut } }) =>
    withDomains(async ({ setup }) => {
      const { organization, credentials, fleetFile } = await setup.create(actor('init'), { name, tier });
      const output = {
        json: { organization, ...credentials, fleetFile },
        notes: [
          `Created the organization ${name} (${organization.id}). The secret of its admin key is shown only once.`,
        ],
        lines: [`${credentials.keyId}:${credentials.keySecret}`],
      };
      if (fleetOut === undefined) return output;
      try {
        writeNewFile(fleetOut, fleetFile);
        return { ...output, notes: [...output.notes, `Wrote ${fleetOut}. Start the server with --fleet ${fleetOut}.`] };
      } catch (error) {
        // The key exists and is printed; the file can be written again.
        const reason = `${fleetOut} was not written: ${(error as Error).message}; pilothouse export prints the same`;
        return { ...output, error: new Error(reason) };
      }
    }),
});
