import { INVALID } from '../../server/settings/settings.ts';
import { type CommandContext, defineCommand, UsageError } from '../command.ts';
import { argument, jsonOption, type ValueRule } from '../parameters.ts';
import { connectToServer } from './api.ts';
import { findProfile, PROFILE_NAME, type ProfileFile, readProfiles, writeProfiles } from './profile-file.ts';

const nameRule: ValueRule<string> = {
  rule: 'must have 1 to 64 letters, digits, dots, dashes and underscores',
  parse: (text) => (PROFILE_NAME.test(text) ? text : INVALID),
};
/** `profile use none` */
const NONE = 'none';
const nameArgument = argument('<name>', 'Name of the profile', nameRule);

const addProfile = defineCommand({
  name: 'profile add',
  summary: 'Store the URL and the key of a server, and use it from now on',
  settings: ['serverUrl', 'serverKey'],
  arguments: { name: nameArgument },
  options: { json: jsonOption },
  async run(context) {
    const { name } = context.arguments;
    const file = getProfiles(context);
    if (name === NONE) throw new UsageError([`${NONE} means no profile; choose another name`]);
    if (context.readConfig().serverUrl === undefined) throw new UsageError(['--url is required']);
    const server = await context.findServer();
    if (!server) throw new UsageError(['--url is required']);
    const { organization } = await connectToServer(server);
    file.profiles.set(name, server);
    writeProfiles(context, { ...file, current: name });
    return {
      json: { name, url: server.url, organizationId: organization.id, organization: organization.name },
      lines: [`Commands now use ${server.url}, organization ${organization.name}. Stored in ${file.path}.`],
    };
  },
});

const listProfiles = defineCommand({
  name: 'profile list',
  summary: 'List profiles; * marks the one that commands use',
  options: { json: jsonOption },
  async run(context) {
    const { current, profiles } = getProfiles(context);
    const records = [...profiles].map(([name, { url }]) => ({ name, url, isCurrent: name === current }));
    const rows = records.map(({ name, url, isCurrent }) => [isCurrent ? '*' : '', name, url]);
    return { json: records, table: { header: ['', 'NAME', 'URL'], rows } };
  },
});

const useProfile = defineCommand({
  name: 'profile use',
  summary: 'Use the server of a profile from now on; none uses the store on this machine again',
  arguments: { name: nameArgument },
  options: { json: jsonOption },
  async run(context) {
    const { name } = context.arguments;
    const file = getProfiles(context);
    const profile = name === NONE ? undefined : findProfile(file, name);
    writeProfiles(context, { ...file, current: profile && name });
    return {
      json: { current: profile ? name : null },
      lines: [profile ? `Commands now use ${profile.url}.` : 'Commands now use the store on this machine.'],
    };
  },
});

const removeProfile = defineCommand({
  name: 'profile remove',
  summary: 'Remove a profile and its key from this machine; the key itself keeps working',
  arguments: { name: nameArgument },
  options: { json: jsonOption },
  async run(context) {
    const { name } = context.arguments;
    const file = getProfiles(context);
    findProfile(file, name);
    file.profiles.delete(name);
    writeProfiles(context, { ...file, current: file.current === name ? undefined : file.current });
    return { json: { name }, lines: [`Removed profile ${name}.`] };
  },
});

export const profileCommands = [addProfile, listProfiles, useProfile, removeProfile];

function getProfiles(context: CommandContext): ProfileFile {
  const file = readProfiles(context);
  if (!file) throw new UsageError(['profiles need a home directory: set HOME or XDG_CONFIG_HOME']);
  return file;
}
