/** Read as "<actor> <action> <resource> <rest>": "demo admin changed the replicas of the service analytics from 3 to 5". */
export interface ActivitySentence {
  action: string;
  /** The name of the resource; absent if the action says everything. */
  resource?: string;
  rest?: string;
}

export type Fields = Readonly<Record<string, unknown>>;
/** Names of resources by id. */
export type Names = ReadonlyMap<string, string>;
export type Describe = (
  activity: { before: Fields; after: Fields; createdAt?: string },
  name: string,
  names: Names,
) => ActivitySentence;

export const about =
  (action: string): Describe =>
  (_, name) => ({ action, resource: name });
