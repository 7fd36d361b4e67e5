/**
 * What runs a service. `simulated` has no process: its states follow the commands (decision S8). `embedded` is a process
 * on this machine, `kubernetes` a resource of a ClickHouse operator, `webhook` anything behind a signed HTTP call.
 */
export const DRIVER_NAMES = ['simulated', 'embedded', 'kubernetes', 'webhook'] as const;
export type DriverName = (typeof DRIVER_NAMES)[number];

interface DriverTraits {
  /** False: nothing is observed. A transition is stored with its end. */
  isReconciled: boolean;
  /** The data is in the data directory of one node, which runs the service. */
  isLocal?: boolean;
  /** The control plane has users of its own in the service, for SQL by role. */
  hasSqlUsers?: boolean;
  /** ClickHouse itself writes backups to S3-compatible storage, when it is asked to by SQL. */
  isBackedUpBySql?: boolean;
  /** Its services have an endpoint for the native protocol. */
  hasNative?: boolean;
  /** Larger numbers are not requested: the service has fewer replicas than its settings say. */
  maxReplicas?: number;
}

export const DRIVERS: Record<DriverName, DriverTraits> = {
  simulated: { isReconciled: false },
  embedded: { isReconciled: true, isLocal: true, hasSqlUsers: true, hasNative: true, maxReplicas: 1 },
  kubernetes: { isReconciled: true, isBackedUpBySql: true },
  webhook: { isReconciled: true, isBackedUpBySql: true },
};

/** The states of the public interface, whose clients have a closed list. */
export const SERVICE_STATES = [
  'starting',
  'stopping',
  'terminating',
  'softdeleting',
  'awaking',
  'partially_running',
  'provisioning',
  'running',
  'stopped',
  'terminated',
  'softdeleted',
  'degraded',
  'failed',
  'idle',
] as const;
export type ServiceState = (typeof SERVICE_STATES)[number];

/** The desired state. A service whose desired state is `idle` runs again with its next query. */
export type DesiredState = 'running' | 'idle' | 'stopped';

/** What a driver reported. Stored separately from the desired state, so that a driver never overwrites a command. */
export interface Observation {
  state: ServiceState;
  /** Epoch milliseconds. */
  since: number;
  /** Set during a transition of the simulated driver: when the state becomes the desired one. */
  settlesAt?: number;
  /** The size changes while the service runs. The public states have none for it. */
  isResizing?: boolean;
  /** Why, in one sentence for users. */
  reason?: string;
  /** The size that was observed: the replicas of each shard, and the memory of one. */
  replicas?: number;
  memoryGb?: number;
  /** Left out if there is one. */
  shards?: number;
  version?: string;
  evidence?: Observed['evidence'];
  /** The id of the data directory that an embedded service is in. */
  placement?: string;
  /** Where clients connect. The port is kept while the service has none. */
  endpoint?: { protocol?: 'https'; host: string; port: number; nativePort?: number };
  /** The change in progress, and the number of attempts so far. */
  inFlight?: { generation: number; attempt: number; since: number };
  /** Changes made outside Pilothouse, until they are corrected or adopted. */
  drift?: { since: number; text: string };
  /** What woke the service last. */
  lastWake?: Wake;
}

export interface Wake {
  /** Epoch milliseconds. */
  at: number;
  cause: 'query' | 'command' | 'backup';
  address?: string;
  userAgent?: string;
  /** The first word of the query, such as `SELECT`. */
  statement?: string;
}

const STOPPED: readonly ServiceState[] = [
  'stopping',
  'stopped',
  'terminating',
  'terminated',
  'softdeleting',
  'softdeleted',
];

/** The desired state of a service that is declared with a state. */
export const toDesiredState = (state: ServiceState): DesiredState => (STOPPED.includes(state) ? 'stopped' : 'running');

/** The part of a service that drivers know. */
export interface DrivenService {
  id: string;
  organizationId: string;
  name: string;
  /** The driver has run it before, so its data must exist. */
  hasRun?: boolean;
  /** base64(SHA-256(password)) of the user `default`. */
  passwordHash?: string | undefined;
  /** The backup whose data the service starts with. */
  restore?: RestoreOptions | undefined;
  kubernetes?: KubernetesOptions | undefined;
  webhook?: WebhookOptions | undefined;
}

/** The data that a new service starts with. */
export interface RestoreOptions {
  backupId: string;
}

/** The resource of a ClickHouse operator. */
export interface KubernetesOptions {
  kind: 'ClickHouseInstallation' | 'ClickHouseCluster';
  namespace: string;
  name: string;
  /** Where queries are forwarded, such as `http://clickhouse-analytics.db.svc:8123`; without it there is no endpoint. */
  url?: string | undefined;
  username?: string | undefined;
  password?: string | undefined;
  /** Only with ClickHouseCluster, where idling is off by default. */
  canIdle?: boolean | undefined;
}

/** `ClickHouseInstallation fleet/orders` */
export const formatPlace = ({
  kind,
  namespace,
  name,
}: Pick<KubernetesOptions, 'kind' | 'namespace' | 'name'>): string => `${kind} ${namespace}/${name}`;

export interface WebhookOptions {
  url: string;
  secret: string;
}

/** What a driver is to bring about. */
export interface Desired {
  /** Increases with every change of the service. */
  generation: number;
  state: DesiredState | 'deleted';
  replicas: number;
  /** The memory of one replica, in GB as in the contract. */
  memoryGb: number;
}

/** The states of a service that a driver can observe. `deleted`: there is nothing left to remove. */
export type ObservedState =
  | 'provisioning'
  | 'starting'
  | 'running'
  | 'resizing'
  | 'idle'
  | 'awaking'
  | 'stopping'
  | 'stopped'
  | 'degraded'
  | 'deleted';

/** Only what was seen: a member whose value is unknown is left out. */
export interface Observed {
  state: ObservedState;
  /** Why, in one sentence for users. */
  reason?: string;
  /** Of each shard. */
  replicas?: number;
  /** Of one replica. */
  memoryGb?: number;
  /** Left out if there is one. */
  shards?: number;
  /** What compute is billed for, in GB; left out if it is that of equal replicas in a service that is running. */
  runningGb?: number;
  /** The version of the database. */
  version?: string;
  /** That of the last change that was acted on. Drivers that see the size of what runs leave it out. */
  generation?: number;
  /** Why the service cannot run until an administrator acts, in one sentence for users. It is not started. */
  obstacle?: string;
  /** What the observation is based on, for users: a process id, a resource version, a task id. */
  evidence?: Record<string, string | number | boolean>;
  /** Where queries are forwarded while the service is running. */
  upstream?: Upstream;
  load?: Load;
}

/** What a statement may do: only read, or everything that the service's own user may do. */
export type SqlRole = 'reader' | 'admin';

/** The headers with the credentials of the control plane's own users. `stopper` ends the statements of the others. */
type SqlUsers = Readonly<Record<SqlRole | 'stopper', Readonly<Record<string, string>>>>;

/** An HTTP interface of ClickHouse that only the control plane may use. */
export interface Upstream {
  host: string;
  port: number;
  /** Added to every request; they replace the credentials of the client. */
  headers: Readonly<Record<string, string>>;
  sqlUsers?: SqlUsers;
  native?: NativeUpstream | undefined;
}

/** The native interface of ClickHouse on the same host, and the user that the clients of a service become. */
export interface NativeUpstream {
  port: number;
  user: string;
  password: string;
}

/** Resource use of a service, over all replicas of all shards. */
export interface Load {
  /** Average since the previous observation. */
  cpuCores?: number;
  memoryBytes?: number;
  /** Size of the stored data. */
  storedBytes?: number;
  /** Queries that failed for lack of memory, since the service was started. */
  outOfMemory?: number;
}

export const BLOCKER_TYPES = [
  'disabled',
  'driver',
  'new',
  'recent_query',
  'running_query',
  'waiting_query',
  'merge',
  'mutation',
  'backup',
  'unknown',
] as const;

/** Why a service is not idle. */
export interface IdleBlocker {
  type: (typeof BLOCKER_TYPES)[number];
  /** One line for users. */
  detail: string;
}

/** An entry of the query log of a service. */
export interface SlowQuery {
  /** Epoch milliseconds. */
  startedAt: number;
  durationMs: number;
  readRows: number;
  readBytes: number;
  /** The largest use of memory during the query. */
  memoryBytes: number;
  query: string;
  /** Why the query failed. */
  error?: string;
}

/** A running service that is backed up. It does not idle before `close`. */
export interface BackupAccess {
  /** Of a user that may back up everything. In embedded services, it may do nothing else. */
  upstream: Upstream;
  close(): void;
}

/**
 * Runs services. Both calls are idempotent and end when `signal` is aborted. Errors are of type `AppError`; their
 * messages are shown to users.
 */
export interface Driver {
  /** Whether a change of the size interrupts queries, so that they must be held back. */
  isInterruptedByResize: boolean;
  canIdle(service: DrivenService): boolean;
  /** Work that would be interrupted if the service were stopped now: merges, mutations, backups. */
  listBlockers?(serviceId: string, signal: AbortSignal): Promise<IdleBlocker[]>;
  /**
   * What the database itself says about its use: running queries and work, and queries that ended less than `timeoutMs`
   * ago. Of drivers whose services have clients that do not use their endpoint. Throws if a replica cannot be asked.
   */
  listUse?(service: DrivenService, timeoutMs: number, signal: AbortSignal): Promise<IdleBlocker[]>;
  /** The slowest queries of the last 24 hours; undefined if the service does not run. */
  listSlowQueries?(serviceId: string, signal: AbortSignal): Promise<SlowQuery[] | undefined>;
  /** Undefined if the service does not run. */
  openBackup?(serviceId: string): BackupAccess | undefined;
  observe(service: DrivenService, signal: AbortSignal): Promise<Observed>;
  /** Moves towards the desired state. The state is reached when `observe` reports it. */
  converge(service: DrivenService, desired: Desired, signal: AbortSignal): Promise<void>;
  /** Ends what runs in this process: another one is responsible for the service now. */
  release?(serviceId: string): Promise<void>;
  close(): Promise<void>;
}
