import { fork, spawn } from 'node:child_process';
import { channel, tracingChannel } from 'node:diagnostics_channel';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { JestAsymmetricMatchers, JestChaiExpect, JestExtend } from '@vitest/expect';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import * as chai from 'chai';
import pg from 'pg';

//#region ../../h4-stub.mjs
chai.use(JestExtend);
chai.use(JestChaiExpect);
chai.use(JestAsymmetricMatchers);
const expect = Object.assign((v, m) => chai.expect(v, m), chai.expect);
expect.fail = (m) => {
  throw new Error(m);
};
const before = [];
const after = [];
const tests = [];
const each = [];
const beforeAll = (f) => before.push(f);
const afterAll = (f) => after.push(f);
const describe = (n, f) => f();
describe.skipIf = (c) => (n, f) => {
  if (!c) f();
};
const it = (n, o, f) => tests.push([n, typeof o === 'function' ? o : f]);
it.each = (rows) => (n, f) =>
  rows.forEach((r) =>
    tests.push([n.replace('%s', Array.isArray(r) ? r[0] : r), () => f(...(Array.isArray(r) ? r : [r]))]),
  );
const inject = () => process.env.H4_PG ?? '';
globalThis.__run = async () => {
  let bad = 0;
  const t0 = Date.now();
  for (const f of before) await f();
  try {
    for (const [n, f] of tests)
      try {
        await f();
        for (const e of each) await e();
        console.log('ok', n, Date.now() - t0);
      } catch (e) {
        bad++;
        console.log('FAIL', n, '\n', String(e?.message).slice(0, 3e3));
      }
  } finally {
    for (const f of after) await f();
  }
  console.log('bad', bad);
};
//#endregion
//#region test/support/fleet.ts
/** Two isolated organizations and a BASIC one, with the resources that the API tests need. */
const acme = {
  id: '7c0e4a34-3c0e-4f0b-9c4e-1d2f3a4b5c6d',
  admin: {
    keyId: 'AcmeAdminKey00000001',
    keySecret: 'acme-admin-secret',
  },
  developer: {
    keyId: 'AcmeDevKey0000000001',
    keySecret: 'acme-developer-secret',
  },
  query: {
    keyId: 'AcmeQueryKey00000001',
    keySecret: 'acme-query-secret',
  },
  disabled: {
    keyId: 'AcmeDisabledKey00001',
    keySecret: 'acme-disabled-secret',
  },
  expired: {
    keyId: 'AcmeExpiredKey000001',
    keySecret: 'acme-expired-secret',
  },
  token: 'acme-dashboard-token',
  /** Can also change dashboards and sources. */
  writer: 'acme-dashboard-writer',
  /** Production, first of its warehouse, paid organization: 16–120 GB per replica, 3 replicas. */
  primary: '0d8f2f2e-6b1a-4b0e-8f57-2b6d3c1a9e11',
  /** Production, second of the same warehouse. */
  secondary: '1e9f3f3f-7c2b-4c1f-9068-3c7e4d2baf22',
  /** Development: a fixed size. */
  development: '2fa04040-8d3c-4d20-a179-4d8f5e3cb033',
  warehouse: '3ab15151-9e4d-4e31-b28a-5e906f4dc144',
  /** Also the id of a source: ids are unique within one kind of resource. */
  dashboard: '64f0c1d2e3a4b5c6d7e8f900',
};
const globex = {
  id: '8d1f5b45-4d1f-4a1c-8d5f-2e3a4b5c6d7e',
  admin: {
    keyId: 'GlobexAdminKey000001',
    keySecret: 'globex-admin-secret',
  },
  token: 'globex-dashboard-token',
  writer: 'globex-dashboard-writer',
  /** Production, first of its warehouse, in a non-paid organization. */
  primary: '4bc26262-af5e-4f42-839b-6fa17a5ed255',
  dashboard: '64f0c1d2e3a4b5c6d7e8f901',
};
const initech = {
  id: '9e2a6c56-5e2a-4b2d-9e6a-3f4b5c6d7e8f',
  admin: {
    keyId: 'InitechAdminKey00001',
    keySecret: 'initech-admin-secret',
  },
  /** In a BASIC organization: one replica, a fixed size. */
  primary: '5cd37373-b06f-4053-94ac-70b28b6fe366',
};
const dashboard = (id, name) => ({
  id,
  name,
  tags: ['test'],
  tiles: [
    {
      id: 'one',
      name: 'One',
      x: 0,
      y: 0,
      w: 12,
      h: 4,
      series: [
        {
          type: 'time',
          aggFn: 'count',
          dataSource: 'events',
        },
      ],
    },
  ],
});
const fleet = {
  organizations: [
    {
      id: acme.id,
      name: 'Acme',
      tier: 'SCALE',
      paid: true,
      services: [
        {
          id: acme.primary,
          name: 'analytics',
          dataWarehouseId: acme.warehouse,
          isPrimary: true,
          numReplicas: 3,
          minTotalMemoryGb: 48,
          maxTotalMemoryGb: 360,
          idleScaling: true,
          idleTimeoutMinutes: 15,
        },
        {
          id: acme.secondary,
          name: 'reader',
          dataWarehouseId: acme.warehouse,
          isPrimary: false,
          numReplicas: 2,
        },
        {
          id: acme.development,
          name: 'sandbox',
          kind: 'development',
        },
      ],
      keys: [
        {
          name: 'admin',
          ...acme.admin,
          roles: ['admin'],
        },
        {
          name: 'developer',
          ...acme.developer,
          roles: ['developer'],
        },
        {
          name: 'query',
          ...acme.query,
          roles: ['query_endpoints'],
        },
        {
          name: 'disabled',
          ...acme.disabled,
          roles: ['admin'],
          state: 'disabled',
        },
        {
          name: 'expired',
          ...acme.expired,
          roles: ['admin'],
          expireAt: '2026-01-01T00:00:00Z',
        },
      ],
      dashboardTokens: [
        {
          name: 'wallboard',
          token: acme.token,
        },
        {
          name: 'editor',
          token: acme.writer,
          access: 'write',
        },
      ],
      sources: [
        {
          id: acme.dashboard,
          name: 'Acme logs',
          kind: 'log',
        },
      ],
      dashboards: [dashboard(acme.dashboard, 'Acme board')],
      usageCosts: [
        {
          date: '2026-10-01',
          entityType: 'service',
          entityId: acme.primary,
          locked: true,
          metrics: {
            computeCHC: 12.345678,
            publicDataTransferCHC: 0.1,
          },
        },
        {
          date: '2026-10-01',
          entityType: 'datawarehouse',
          entityId: acme.warehouse,
          locked: true,
          metrics: {
            storageCHC: 0.2,
            backupCHC: 0.1,
          },
        },
        {
          date: '2026-10-02',
          entityType: 'service',
          entityId: acme.primary,
          metrics: { computeCHC: 1.000001 },
        },
      ],
    },
    {
      id: globex.id,
      name: 'Globex',
      tier: 'SCALE',
      paid: false,
      services: [
        {
          id: globex.primary,
          name: 'main',
          numReplicas: 2,
        },
      ],
      keys: [
        {
          name: 'admin',
          ...globex.admin,
          roles: ['admin'],
        },
      ],
      dashboardTokens: [
        {
          name: 'wallboard',
          token: globex.token,
        },
        {
          name: 'editor',
          token: globex.writer,
          access: 'write',
        },
      ],
      sources: [
        {
          id: globex.dashboard,
          name: 'Globex logs',
          kind: 'log',
        },
      ],
      dashboards: [dashboard(globex.dashboard, 'Globex board')],
      usageCosts: [
        {
          date: '2026-10-01',
          entityType: 'service',
          entityId: globex.primary,
          metrics: { computeCHC: 99.5 },
        },
      ],
    },
    {
      id: initech.id,
      name: 'Initech',
      tier: 'BASIC',
      paid: true,
      services: [
        {
          id: initech.primary,
          name: 'only',
        },
      ],
      keys: [
        {
          name: 'admin',
          ...initech.admin,
          roles: ['admin'],
        },
      ],
    },
  ],
};
//#endregion
//#region test/support/client.ts
/** A client over real HTTP. Every response of a documented operation must match the OpenAPI document. */
function createClient(target) {
  const documents = /* @__PURE__ */ new Map();
  const ajv = new Ajv2020({
    strict: false,
    allErrors: true,
  });
  addFormats(ajv);
  const readDocument = (base) => {
    let document = documents.get(base);
    if (!document) {
      document = fetch(`${base}/openapi.json`).then((response) => response.json());
      documents.set(base, document);
    }
    return document;
  };
  return async (call) => {
    const { method = 'GET', path } = call;
    const { url, dashboardUrl } = target();
    const base = path.startsWith('/api/v2') ? dashboardUrl : url;
    const response = await send(base, call);
    expectDocumented(await readDocument(base), ajv, method, path, response);
    return response;
  };
}
async function send(base, call) {
  const { method = 'GET', path, body } = call;
  const payload = call.text ?? (body === void 0 ? null : JSON.stringify(body));
  const response = await fetch(base + path, {
    method,
    headers: createHeaders(call),
    body: payload,
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: isJson && text !== '' ? JSON.parse(text) : void 0,
  };
}
function createHeaders({ key, token, body, headers = {} }) {
  const sent = { ...headers };
  if (key) sent.authorization ??= `Basic ${Buffer.from(`${key.keyId}:${key.keySecret}`).toString('base64')}`;
  if (token) sent.authorization ??= `Bearer ${token}`;
  if (body !== void 0) sent['content-type'] ??= 'application/json';
  return sent;
}
function expectDocumented(document, ajv, method, path, { status, headers, json, text }) {
  if (status === 304 || method === 'HEAD') return;
  const segments = (path.split('?')[0] ?? '').split('/');
  const pattern = Object.keys(document.paths).find((candidate) => {
    const parts = candidate.split('/');
    return (
      parts.length === segments.length && parts.every((part, index) => part.startsWith('{') || part === segments[index])
    );
  });
  const operation = pattern === void 0 ? void 0 : document.paths[pattern]?.[method.toLowerCase()];
  if (!operation) return;
  const { responses } = operation;
  const response = responses[String(status)] ?? responses[`${String(status)[0]}XX`];
  const type = headers.get('content-type')?.split(';', 1)[0] ?? '';
  if (type !== 'application/json' && response?.content?.[type]) return;
  const schema = response?.content?.['application/json']?.schema;
  expect(schema, `${method} ${pattern} responded with ${status}, which is not documented`).toBeDefined();
  const validate = ajv.compile(schema);
  expect(
    validate(json),
    `${method} ${pattern} ${status}: ${ajv.errorsText(validate.errors)}\n${text.slice(0, 2e3)}`,
  ).toBe(true);
}
//#endregion
//#region ../../../work/main/node_modules/lru-cache/dist/esm/node/index.min.js
var S = channel('lru-cache:metrics');
var W = tracingChannel('lru-cache');
var L = typeof performance == 'object' && performance && typeof performance.now == 'function' ? performance : Date;
var R = () => S.hasSubscribers || W.hasSubscribers;
var U = /* @__PURE__ */ new Set();
var M = typeof process == 'object' && process ? process : {};
var k = (d, e, t, i) => {
  typeof M.emitWarning == 'function' ? M.emitWarning(d, e, t, i) : console.error(`[${t}] ${e}: ${d}`);
};
var H = (d) => !U.has(d);
var T = (d) => !!d && d === Math.floor(d) && d > 0 && isFinite(d);
var j = (d) =>
  T(d)
    ? d <= 2 ** 8
      ? Uint8Array
      : d <= 2 ** 16
        ? Uint16Array
        : d <= 2 ** 32
          ? Uint32Array
          : d <= Number.MAX_SAFE_INTEGER
            ? O
            : null
    : null;
var O = class extends Array {
  constructor(e) {
    super(e), this.fill(0);
  }
};
var x = class d {
  heap;
  length;
  static #o = !1;
  static create(e) {
    const t = j(e);
    if (!t) return [];
    d.#o = !0;
    const i = new d(e, t);
    return (d.#o = !1), i;
  }
  constructor(e, t) {
    if (!d.#o) throw new TypeError('instantiate Stack using Stack.create(n)');
    (this.heap = new t(e)), (this.length = 0);
  }
  push(e) {
    this.heap[this.length++] = e;
  }
  pop() {
    return this.heap[--this.length];
  }
};
var I = class d {
  #o;
  #c;
  #S;
  #O;
  #w;
  #M;
  #I;
  #m;
  get perf() {
    return this.#m;
  }
  ttl;
  ttlResolution;
  ttlAutopurge;
  updateAgeOnGet;
  updateAgeOnHas;
  allowStale;
  noDisposeOnSet;
  noUpdateTTL;
  maxEntrySize;
  sizeCalculation;
  noDeleteOnFetchRejection;
  noDeleteOnStaleGet;
  allowStaleOnFetchAbort;
  allowStaleOnFetchRejection;
  ignoreFetchAbort;
  backgroundFetchSize;
  #n;
  #b;
  #s;
  #i;
  #t;
  #l;
  #u;
  #a;
  #h;
  #y;
  #r;
  #_;
  #F;
  #d;
  #g;
  #T;
  #U;
  #f;
  #D;
  static unsafeExposeInternals(e) {
    return {
      starts: e.#F,
      ttls: e.#d,
      autopurgeTimers: e.#g,
      sizes: e.#_,
      keyMap: e.#s,
      keyList: e.#i,
      valList: e.#t,
      next: e.#l,
      prev: e.#u,
      get head() {
        return e.#a;
      },
      get tail() {
        return e.#h;
      },
      free: e.#y,
      isBackgroundFetch: (t) => e.#e(t),
      backgroundFetch: (t, i, s, n) => e.#P(t, i, s, n),
      moveToTail: (t) => e.#L(t),
      indexes: (t) => e.#A(t),
      rindexes: (t) => e.#z(t),
      isStale: (t) => e.#p(t),
    };
  }
  get max() {
    return this.#o;
  }
  get maxSize() {
    return this.#c;
  }
  get calculatedSize() {
    return this.#b;
  }
  get size() {
    return this.#n;
  }
  get fetchMethod() {
    return this.#M;
  }
  get memoMethod() {
    return this.#I;
  }
  get dispose() {
    return this.#S;
  }
  get onInsert() {
    return this.#O;
  }
  get disposeAfter() {
    return this.#w;
  }
  constructor(e) {
    const {
      max: t = 0,
      ttl: i,
      ttlResolution: s = 1,
      ttlAutopurge: n,
      updateAgeOnGet: o,
      updateAgeOnHas: l,
      allowStale: h,
      dispose: r,
      onInsert: c,
      disposeAfter: m,
      noDisposeOnSet: _,
      noUpdateTTL: u,
      maxSize: g = 0,
      maxEntrySize: f = 0,
      sizeCalculation: y,
      fetchMethod: a,
      memoMethod: w,
      noDeleteOnFetchRejection: F,
      noDeleteOnStaleGet: b,
      allowStaleOnFetchRejection: p,
      allowStaleOnFetchAbort: A,
      ignoreFetchAbort: z,
      backgroundFetchSize: C = 1,
      perf: E,
    } = e;
    if (((this.backgroundFetchSize = C), E !== void 0 && typeof E?.now != 'function'))
      throw new TypeError('perf option must have a now() method if specified');
    if (((this.#m = E ?? L), t !== 0 && !T(t))) throw new TypeError('max option must be a nonnegative integer');
    const v = t ? j(t) : Array;
    if (!v) throw new Error('invalid max value: ' + t);
    if (
      ((this.#o = t),
      (this.#c = g),
      (this.maxEntrySize = f || this.#c),
      (this.sizeCalculation = y),
      this.sizeCalculation)
    ) {
      if (!this.#c && !this.maxEntrySize)
        throw new TypeError('cannot set sizeCalculation without setting maxSize or maxEntrySize');
      if (typeof this.sizeCalculation != 'function') throw new TypeError('sizeCalculation set to non-function');
    }
    if (w !== void 0 && typeof w != 'function') throw new TypeError('memoMethod must be a function if defined');
    if (((this.#I = w), a !== void 0 && typeof a != 'function'))
      throw new TypeError('fetchMethod must be a function if specified');
    if (
      ((this.#M = a),
      (this.#U = !!a),
      (this.#s = /* @__PURE__ */ new Map()),
      (this.#i = Array.from({ length: t }).fill(void 0)),
      (this.#t = Array.from({ length: t }).fill(void 0)),
      (this.#l = new v(t)),
      (this.#u = new v(t)),
      (this.#a = 0),
      (this.#h = 0),
      (this.#y = x.create(t)),
      (this.#n = 0),
      (this.#b = 0),
      typeof r == 'function' && (this.#S = r),
      typeof c == 'function' && (this.#O = c),
      typeof m == 'function' ? ((this.#w = m), (this.#r = [])) : ((this.#w = void 0), (this.#r = void 0)),
      (this.#T = !!this.#S),
      (this.#D = !!this.#O),
      (this.#f = !!this.#w),
      (this.noDisposeOnSet = !!_),
      (this.noUpdateTTL = !!u),
      (this.noDeleteOnFetchRejection = !!F),
      (this.allowStaleOnFetchRejection = !!p),
      (this.allowStaleOnFetchAbort = !!A),
      (this.ignoreFetchAbort = !!z),
      this.maxEntrySize !== 0)
    ) {
      if (this.#c !== 0 && !T(this.#c)) throw new TypeError('maxSize must be a positive integer if specified');
      if (!T(this.maxEntrySize)) throw new TypeError('maxEntrySize must be a positive integer if specified');
      this.#X();
    }
    if (
      ((this.allowStale = !!h),
      (this.noDeleteOnStaleGet = !!b),
      (this.updateAgeOnGet = !!o),
      (this.updateAgeOnHas = !!l),
      (this.ttlResolution = T(s) || s === 0 ? s : 1),
      (this.ttlAutopurge = !!n),
      (this.ttl = i || 0),
      this.ttl)
    ) {
      if (!T(this.ttl)) throw new TypeError('ttl must be a positive integer if specified');
      this.#k();
    }
    if (this.#o === 0 && this.ttl === 0 && this.#c === 0)
      throw new TypeError('At least one of max, maxSize, or ttl is required');
    if (!this.ttlAutopurge && !this.#o && !this.#c) {
      const D = 'LRU_CACHE_UNBOUNDED';
      H(D) &&
        (U.add(D),
        k(
          'TTL caching without ttlAutopurge, max, or maxSize can result in unbounded memory consumption.',
          'UnboundedCacheWarning',
          D,
          d,
        ));
    }
  }
  getRemainingTTL(e) {
    return this.#s.has(e) ? 1 / 0 : 0;
  }
  #k() {
    const e = new O(this.#o),
      t = new O(this.#o);
    (this.#d = e), (this.#F = t);
    const i = this.ttlAutopurge ? Array.from({ length: this.#o }) : void 0;
    (this.#g = i),
      (this.#H = (h, r, c = this.#m.now()) => {
        (t[h] = r !== 0 ? c : 0), (e[h] = r), s(h, r);
      }),
      (this.#R = (h) => {
        (t[h] = e[h] !== 0 ? this.#m.now() : 0), s(h, e[h]);
      });
    const s = this.ttlAutopurge
      ? (h, r) => {
          if ((i?.[h] && (clearTimeout(i[h]), (i[h] = void 0)), r && r !== 0 && i)) {
            const c = setTimeout(() => {
              this.#p(h) ? (this.#E(this.#i[h], 'expire'), (i[h] = void 0)) : s(h, l(h));
            }, r + 1);
            c.unref && c.unref(), (i[h] = c);
          }
        }
      : () => {};
    this.#v = (h, r) => {
      if (e[r]) {
        const c = e[r],
          m = t[r];
        if (!c || !m) return;
        (h.ttl = c), (h.start = m), (h.now = n || o());
        h.remainingTTL = c - (h.now - m);
      }
    };
    let n = 0,
      o = () => {
        const h = this.#m.now();
        if (this.ttlResolution > 0) {
          n = h;
          const r = setTimeout(() => (n = 0), this.ttlResolution);
          r.unref && r.unref();
        }
        return h;
      };
    this.getRemainingTTL = (h) => {
      const r = this.#s.get(h);
      return r === void 0 ? 0 : l(r);
    };
    const l = (h) => {
      const r = e[h],
        c = t[h];
      if (!r || !c) return 1 / 0;
      return r - ((n || o()) - c);
    };
    this.#p = (h) => {
      const r = t[h],
        c = e[h];
      return !!c && !!r && (n || o()) - r > c;
    };
  }
  #R = () => {};
  #v = () => {};
  #H = () => {};
  #p = () => !1;
  #X() {
    const e = new O(this.#o);
    (this.#b = 0),
      (this.#_ = e),
      (this.#x = (t) => {
        (this.#b -= e[t]), (e[t] = 0);
      }),
      (this.#N = (t, i, s, n) => {
        if (!T(s)) {
          if (this.#e(i)) return this.backgroundFetchSize;
          if (n) {
            if (typeof n != 'function') throw new TypeError('sizeCalculation must be a function');
            if (((s = n(i, t)), !T(s))) throw new TypeError('sizeCalculation return invalid (expect positive integer)');
          } else
            throw new TypeError(
              'invalid size value (must be positive integer). When maxSize or maxEntrySize is used, sizeCalculation or size must be set.',
            );
        }
        return s;
      }),
      (this.#j = (t, i, s) => {
        if (((e[t] = i), this.#c)) {
          const n = this.#c - e[t];
          for (; this.#b > n; ) this.#G(!0);
        }
        (this.#b += e[t]), s && ((s.entrySize = i), (s.totalCalculatedSize = this.#b));
      });
  }
  #x = (e) => {};
  #j = (e, t, i) => {};
  #N = (e, t, i, s) => {
    if (i || s) throw new TypeError('cannot set size without setting maxSize or maxEntrySize on cache');
    return 0;
  };
  *#A({ allowStale: e = this.allowStale } = {}) {
    if (this.#n) for (let t = this.#h; this.#V(t) && ((e || !this.#p(t)) && (yield t), t !== this.#a); ) t = this.#u[t];
  }
  *#z({ allowStale: e = this.allowStale } = {}) {
    if (this.#n) for (let t = this.#a; this.#V(t) && ((e || !this.#p(t)) && (yield t), t !== this.#h); ) t = this.#l[t];
  }
  #V(e) {
    return e !== void 0 && this.#s.get(this.#i[e]) === e;
  }
  *entries() {
    for (const e of this.#A())
      this.#t[e] !== void 0 && this.#i[e] !== void 0 && !this.#e(this.#t[e]) && (yield [this.#i[e], this.#t[e]]);
  }
  *rentries() {
    for (const e of this.#z())
      this.#t[e] !== void 0 && this.#i[e] !== void 0 && !this.#e(this.#t[e]) && (yield [this.#i[e], this.#t[e]]);
  }
  *keys() {
    for (const e of this.#A()) {
      const t = this.#i[e];
      t !== void 0 && !this.#e(this.#t[e]) && (yield t);
    }
  }
  *rkeys() {
    for (const e of this.#z()) {
      const t = this.#i[e];
      t !== void 0 && !this.#e(this.#t[e]) && (yield t);
    }
  }
  *values() {
    for (const e of this.#A()) this.#t[e] !== void 0 && !this.#e(this.#t[e]) && (yield this.#t[e]);
  }
  *rvalues() {
    for (const e of this.#z()) this.#t[e] !== void 0 && !this.#e(this.#t[e]) && (yield this.#t[e]);
  }
  [Symbol.iterator]() {
    return this.entries();
  }
  [Symbol.toStringTag] = 'LRUCache';
  find(e, t = {}) {
    for (const i of this.#A()) {
      const s = this.#t[i],
        n = this.#e(s) ? s.__staleWhileFetching : s;
      if (n !== void 0 && e(n, this.#i[i], this)) return this.#C(this.#i[i], t);
    }
  }
  forEach(e, t = this) {
    for (const i of this.#A()) {
      const s = this.#t[i],
        n = this.#e(s) ? s.__staleWhileFetching : s;
      n !== void 0 && e.call(t, n, this.#i[i], this);
    }
  }
  rforEach(e, t = this) {
    for (const i of this.#z()) {
      const s = this.#t[i],
        n = this.#e(s) ? s.__staleWhileFetching : s;
      n !== void 0 && e.call(t, n, this.#i[i], this);
    }
  }
  purgeStale() {
    let e = !1;
    for (const t of this.#z({ allowStale: !0 })) this.#p(t) && (this.#E(this.#i[t], 'expire'), (e = !0));
    return e;
  }
  info(e) {
    const t = this.#s.get(e);
    if (t === void 0) return;
    const i = this.#t[t],
      s = this.#e(i) ? i.__staleWhileFetching : i;
    if (s === void 0) return;
    const n = { value: s };
    if (this.#d && this.#F) {
      const o = this.#d[t],
        l = this.#F[t];
      if (o && l) (n.ttl = o - (this.#m.now() - l)), (n.start = Date.now());
    }
    return this.#_ && (n.size = this.#_[t]), n;
  }
  dump() {
    const e = [];
    for (const t of this.#A({ allowStale: !0 })) {
      const i = this.#i[t],
        s = this.#t[t],
        n = this.#e(s) ? s.__staleWhileFetching : s;
      if (n === void 0 || i === void 0) continue;
      const o = { value: n };
      if (this.#d && this.#F) {
        o.ttl = this.#d[t];
        const l = this.#m.now() - this.#F[t];
        o.start = Math.floor(Date.now() - l);
      }
      this.#_ && (o.size = this.#_[t]), e.unshift([i, o]);
    }
    return e;
  }
  load(e) {
    this.clear();
    for (const [t, i] of e) {
      if (i.start) {
        const s = Date.now() - i.start;
        i.start = this.#m.now() - s;
      }
      this.#W(t, i.value, i);
    }
  }
  set(e, t, i = {}) {
    const { status: s = S.hasSubscribers ? {} : void 0 } = i;
    (i.status = s), s && ((s.op = 'set'), (s.key = e), t !== void 0 && (s.value = t), (s.cache = this));
    const n = this.#W(e, t, i);
    return s && S.hasSubscribers && S.publish(s), n;
  }
  #W(e, t, i, s) {
    const {
        ttl: n = this.ttl,
        start: o,
        noDisposeOnSet: l = this.noDisposeOnSet,
        sizeCalculation: h = this.sizeCalculation,
        status: r,
      } = i,
      c = this.#e(t);
    if (t === void 0) return r && (r.set = 'deleted'), this.delete(e), this;
    let { noUpdateTTL: m = this.noUpdateTTL } = i;
    r && !c && (r.value = t);
    const _ = this.#N(e, t, i.size || 0, h, r);
    if (this.maxEntrySize && _ > this.maxEntrySize)
      return this.#E(e, 'set'), r && ((r.set = 'miss'), (r.maxEntrySizeExceeded = !0)), this;
    let u = this.#n === 0 ? void 0 : this.#s.get(e);
    if (u === void 0)
      (u =
        this.#n === 0 ? this.#h : this.#y.length !== 0 ? this.#y.pop() : this.#n === this.#o ? this.#G(!1) : this.#n),
        (this.#i[u] = e),
        (this.#t[u] = t),
        this.#s.set(e, u),
        (this.#l[this.#h] = u),
        (this.#u[u] = this.#h),
        (this.#h = u),
        this.#n++,
        this.#j(u, _, r),
        r && (r.set = 'add'),
        (m = !1),
        this.#D && !c && this.#O?.(t, e, 'add');
    else {
      this.#L(u);
      const g = this.#t[u];
      if (t !== g) {
        if (!l)
          if (this.#e(g)) {
            g !== s && g.__abortController.abort(/* @__PURE__ */ new Error('replaced'));
            const { __staleWhileFetching: f } = g;
            f !== void 0 && f !== t && (this.#T && this.#S?.(f, e, 'set'), this.#f && this.#r?.push([f, e, 'set']));
          } else this.#T && this.#S?.(g, e, 'set'), this.#f && this.#r?.push([g, e, 'set']);
        if ((this.#x(u), this.#j(u, _, r), (this.#t[u] = t), !c)) {
          const f = g && this.#e(g) ? g.__staleWhileFetching : g,
            y = f === void 0 ? 'add' : t !== f ? 'replace' : 'update';
          r && ((r.set = y), f !== void 0 && (r.oldValue = f)), this.#D && this.onInsert?.(t, e, y);
        }
      } else c || (r && (r.set = 'update'), this.#D && this.onInsert?.(t, e, 'update'));
    }
    if (
      (n !== 0 && !this.#d && this.#k(),
      this.#d && (m || this.#H(u, n, o), r && this.#v(r, u)),
      !l && this.#f && this.#r)
    ) {
      let g = this.#r,
        f;
      for (; (f = g?.shift()); ) this.#w?.(...f);
    }
    return this;
  }
  pop() {
    try {
      for (; this.#n; ) {
        const e = this.#t[this.#a];
        if ((this.#G(!0), this.#e(e))) {
          if (e.__staleWhileFetching) return e.__staleWhileFetching;
        } else if (e !== void 0) return e;
      }
    } finally {
      if (this.#f && this.#r) {
        let e = this.#r,
          t;
        for (; (t = e?.shift()); ) this.#w?.(...t);
      }
    }
  }
  #G(e) {
    const t = this.#a,
      i = this.#i[t],
      s = this.#t[t],
      n = this.#e(s);
    n && s.__abortController.abort(/* @__PURE__ */ new Error('evicted'));
    const o = n ? s.__staleWhileFetching : s;
    return (
      (this.#T || this.#f) &&
        o !== void 0 &&
        (this.#T && this.#S?.(o, i, 'evict'), this.#f && this.#r?.push([o, i, 'evict'])),
      this.#x(t),
      this.#g?.[t] && (clearTimeout(this.#g[t]), (this.#g[t] = void 0)),
      e && ((this.#i[t] = void 0), (this.#t[t] = void 0), this.#y.push(t)),
      this.#n === 1 ? ((this.#a = this.#h = 0), (this.#y.length = 0)) : (this.#a = this.#l[t]),
      this.#s.delete(i),
      this.#n--,
      t
    );
  }
  has(e, t = {}) {
    const { status: i = S.hasSubscribers ? {} : void 0 } = t;
    (t.status = i), i && ((i.op = 'has'), (i.key = e), (i.cache = this));
    const s = this.#Y(e, t);
    return S.hasSubscribers && S.publish(i), s;
  }
  #Y(e, t = {}) {
    const { updateAgeOnHas: i = this.updateAgeOnHas, status: s } = t,
      n = this.#s.get(e);
    if (n !== void 0) {
      const o = this.#t[n];
      if (this.#e(o) && o.__staleWhileFetching === void 0) return !1;
      if (this.#p(n)) s && ((s.has = 'stale'), this.#v(s, n));
      else return i && this.#R(n), s && ((s.has = 'hit'), this.#v(s, n)), !0;
    } else s && (s.has = 'miss');
    return !1;
  }
  peek(e, t = {}) {
    const { status: i = R() ? {} : void 0 } = t;
    i && ((i.op = 'peek'), (i.key = e), (i.cache = this)), (t.status = i);
    const s = this.#J(e, t);
    return S.hasSubscribers && S.publish(i), s;
  }
  #J(e, t) {
    const { status: i, allowStale: s = this.allowStale } = t,
      n = this.#s.get(e);
    if (n === void 0 || (!s && this.#p(n))) {
      i && (i.peek = n === void 0 ? 'miss' : 'stale');
      return;
    }
    const o = this.#t[n],
      l = this.#e(o) ? o.__staleWhileFetching : o;
    return i && (l !== void 0 ? ((i.peek = 'hit'), (i.value = l)) : (i.peek = 'miss')), l;
  }
  #P(e, t, i, s) {
    const n = t === void 0 ? void 0 : this.#t[t];
    if (this.#e(n)) return n;
    const o = new AbortController(),
      { signal: l } = i;
    l?.addEventListener('abort', () => o.abort(l.reason), { signal: o.signal });
    const h = {
        signal: o.signal,
        options: i,
        context: s,
      },
      r = (f, y = !1) => {
        const { aborted: a } = o.signal,
          w = i.ignoreFetchAbort && f !== void 0,
          F = i.ignoreFetchAbort || !!(i.allowStaleOnFetchAbort && f !== void 0);
        if (
          (i.status &&
            (a && !y
              ? ((i.status.fetchAborted = !0),
                (i.status.fetchError = o.signal.reason),
                w && (i.status.fetchAbortIgnored = !0))
              : (i.status.fetchResolved = !0)),
          a && !w && !y)
        )
          return m(o.signal.reason, F);
        const b = u,
          p = this.#t[t];
        return (
          (p === u || (p === void 0 && w && y)) &&
            (f === void 0
              ? b.__staleWhileFetching !== void 0
                ? (this.#t[t] = b.__staleWhileFetching)
                : this.#E(e, 'fetch')
              : (i.status && (i.status.fetchUpdated = !0), this.#W(e, f, h.options, b))),
          f
        );
      },
      c = (f) => (i.status && ((i.status.fetchRejected = !0), (i.status.fetchError = f)), m(f, !1)),
      m = (f, y) => {
        const { aborted: a } = o.signal,
          w = a && i.allowStaleOnFetchAbort,
          F = w || i.allowStaleOnFetchRejection,
          b = F || i.noDeleteOnFetchRejection,
          p = u;
        if (
          (this.#t[t] === u &&
            (!b || (!y && p.__staleWhileFetching === void 0)
              ? this.#E(e, 'fetch')
              : w || (this.#t[t] = p.__staleWhileFetching)),
          F)
        )
          return i.status && p.__staleWhileFetching !== void 0 && (i.status.returnedStale = !0), p.__staleWhileFetching;
        if (p.__returned === p) throw f;
      },
      _ = (f, y) => {
        const a = this.#M?.(e, n, h);
        o.signal.addEventListener('abort', () => {
          (!i.ignoreFetchAbort || i.allowStaleOnFetchAbort) &&
            (f(void 0), i.allowStaleOnFetchAbort && (f = (w) => r(w, !0)));
        }),
          a && a instanceof Promise ? a.then((w) => f(w === void 0 ? void 0 : w), y) : a !== void 0 && f(a);
      };
    i.status && (i.status.fetchDispatched = !0);
    const u = new Promise(_).then(r, c),
      g = Object.assign(u, {
        __abortController: o,
        __staleWhileFetching: n,
        __returned: void 0,
      });
    return (
      t === void 0
        ? (this.#W(e, g, {
            ...h.options,
            status: void 0,
          }),
          (t = this.#s.get(e)))
        : (this.#t[t] = g),
      g
    );
  }
  #e(e) {
    if (!this.#U) return !1;
    const t = e;
    return (
      !!t &&
      t instanceof Promise &&
      Object.hasOwn(t, '__staleWhileFetching') &&
      t.__abortController instanceof AbortController
    );
  }
  fetch(e, t = {}) {
    const i = W.hasSubscribers,
      { status: s = R() ? {} : void 0 } = t;
    (t.status = s), s && t.context && (s.context = t.context);
    const n = this.#B(e, t);
    return s && i && ((s.trace = !0), W.tracePromise(() => n, s).catch(() => {})), n;
  }
  async #B(e, t = {}) {
    const {
      allowStale: i = this.allowStale,
      updateAgeOnGet: s = this.updateAgeOnGet,
      noDeleteOnStaleGet: n = this.noDeleteOnStaleGet,
      ttl: o = this.ttl,
      noDisposeOnSet: l = this.noDisposeOnSet,
      size: h = 0,
      sizeCalculation: r = this.sizeCalculation,
      noUpdateTTL: c = this.noUpdateTTL,
      noDeleteOnFetchRejection: m = this.noDeleteOnFetchRejection,
      allowStaleOnFetchRejection: _ = this.allowStaleOnFetchRejection,
      ignoreFetchAbort: u = this.ignoreFetchAbort,
      allowStaleOnFetchAbort: g = this.allowStaleOnFetchAbort,
      context: f,
      forceRefresh: y = !1,
      status: a,
      signal: w,
    } = t;
    if ((a && ((a.op = 'fetch'), (a.key = e), y && (a.forceRefresh = !0), (a.cache = this)), !this.#U))
      return (
        a && (a.fetch = 'get'),
        this.#C(e, {
          allowStale: i,
          updateAgeOnGet: s,
          noDeleteOnStaleGet: n,
          status: a,
        })
      );
    const F = {
        allowStale: i,
        updateAgeOnGet: s,
        noDeleteOnStaleGet: n,
        ttl: o,
        noDisposeOnSet: l,
        size: h,
        sizeCalculation: r,
        noUpdateTTL: c,
        noDeleteOnFetchRejection: m,
        allowStaleOnFetchRejection: _,
        allowStaleOnFetchAbort: g,
        ignoreFetchAbort: u,
        status: a,
        signal: w,
      },
      b = this.#s.get(e);
    if (b === void 0) {
      a && (a.fetch = 'miss');
      const p = this.#P(e, b, F, f);
      return (p.__returned = p);
    } else {
      const p = this.#t[b];
      if (this.#e(p)) {
        const v = i && p.__staleWhileFetching !== void 0;
        return (
          a && ((a.fetch = 'inflight'), v && (a.returnedStale = !0)), v ? p.__staleWhileFetching : (p.__returned = p)
        );
      }
      const A = this.#p(b);
      if (!y && !A) return a && (a.fetch = 'hit'), this.#L(b), s && this.#R(b), a && this.#v(a, b), p;
      const z = this.#P(e, b, F, f),
        E = z.__staleWhileFetching !== void 0 && i;
      return (
        a && ((a.fetch = A ? 'stale' : 'refresh'), E && A && (a.returnedStale = !0)),
        E ? z.__staleWhileFetching : (z.__returned = z)
      );
    }
  }
  forceFetch(e, t = {}) {
    const i = W.hasSubscribers,
      { status: s = R() ? {} : void 0 } = t;
    (t.status = s), s && t.context && (s.context = t.context);
    const n = this.#K(e, t);
    return s && i && ((s.trace = !0), W.tracePromise(() => n, s).catch(() => {})), n;
  }
  async #K(e, t = {}) {
    const i = await this.#B(e, t);
    if (i === void 0) throw new Error('fetch() returned undefined');
    return i;
  }
  memo(e, t = {}) {
    const { status: i = S.hasSubscribers ? {} : void 0 } = t;
    (t.status = i), i && ((i.op = 'memo'), (i.key = e), t.context && (i.context = t.context), (i.cache = this));
    const s = this.#Q(e, t);
    return i && (i.value = s), S.hasSubscribers && S.publish(i), s;
  }
  #Q(e, t = {}) {
    const i = this.#I;
    if (!i) throw new Error('no memoMethod provided to constructor');
    const { context: s, status: n, forceRefresh: o, ...l } = t;
    n && o && (n.forceRefresh = !0);
    const h = this.#C(e, l),
      r = o || h === void 0;
    if ((n && ((n.memo = r ? 'miss' : 'hit'), r || (n.value = h)), !r)) return h;
    const c = i(e, h, {
      options: l,
      context: s,
    });
    return n && (n.value = c), this.#W(e, c, l), c;
  }
  get(e, t = {}) {
    const { status: i = S.hasSubscribers ? {} : void 0 } = t;
    (t.status = i), i && ((i.op = 'get'), (i.key = e), (i.cache = this));
    const s = this.#C(e, t);
    return i && (s !== void 0 && (i.value = s), S.hasSubscribers && S.publish(i)), s;
  }
  #C(e, t = {}) {
    const {
        allowStale: i = this.allowStale,
        updateAgeOnGet: s = this.updateAgeOnGet,
        noDeleteOnStaleGet: n = this.noDeleteOnStaleGet,
        status: o,
      } = t,
      l = this.#s.get(e);
    if (l === void 0) {
      o && (o.get = 'miss');
      return;
    }
    const h = this.#t[l],
      r = this.#e(h);
    return (
      o && this.#v(o, l),
      this.#p(l)
        ? r
          ? (o && (o.get = 'stale-fetching'),
            i && h.__staleWhileFetching !== void 0 ? (o && (o.returnedStale = !0), h.__staleWhileFetching) : void 0)
          : (n || this.#E(e, 'expire'), o && (o.get = 'stale'), i ? (o && (o.returnedStale = !0), h) : void 0)
        : (o && (o.get = r ? 'fetching' : 'hit'), this.#L(l), s && this.#R(l), r ? h.__staleWhileFetching : h)
    );
  }
  #$(e, t) {
    (this.#u[t] = e), (this.#l[e] = t);
  }
  #L(e) {
    e !== this.#h &&
      (e === this.#a ? (this.#a = this.#l[e]) : this.#$(this.#u[e], this.#l[e]), this.#$(this.#h, e), (this.#h = e));
  }
  delete(e) {
    return this.#E(e, 'delete');
  }
  #E(e, t) {
    S.hasSubscribers &&
      S.publish({
        op: 'delete',
        delete: t,
        key: e,
        cache: this,
      });
    let i = !1;
    if (this.#n !== 0) {
      const s = this.#s.get(e);
      if (s !== void 0)
        if ((this.#g?.[s] && (clearTimeout(this.#g[s]), (this.#g[s] = void 0)), (i = !0), this.#n === 1)) this.#q(t);
        else {
          this.#x(s);
          const n = this.#t[s];
          if (
            (this.#e(n)
              ? n.__abortController.abort(/* @__PURE__ */ new Error('deleted'))
              : (this.#T || this.#f) && (this.#T && this.#S?.(n, e, t), this.#f && this.#r?.push([n, e, t])),
            this.#s.delete(e),
            (this.#i[s] = void 0),
            (this.#t[s] = void 0),
            s === this.#h)
          )
            this.#h = this.#u[s];
          else if (s === this.#a) this.#a = this.#l[s];
          else {
            const o = this.#u[s];
            this.#l[o] = this.#l[s];
            const l = this.#l[s];
            this.#u[l] = this.#u[s];
          }
          this.#n--, this.#y.push(s);
        }
    }
    if (this.#f && this.#r?.length) {
      let s = this.#r,
        n;
      for (; (n = s?.shift()); ) this.#w?.(...n);
    }
    return i;
  }
  clear() {
    return this.#q('delete');
  }
  #q(e) {
    for (const t of this.#z({ allowStale: !0 })) {
      const i = this.#t[t];
      if (this.#e(i)) i.__abortController.abort(/* @__PURE__ */ new Error('deleted'));
      else {
        const s = this.#i[t];
        this.#T && this.#S?.(i, s, e), this.#f && this.#r?.push([i, s, e]);
      }
    }
    if ((this.#s.clear(), this.#t.fill(void 0), this.#i.fill(void 0), this.#d && this.#F)) {
      this.#d.fill(0), this.#F.fill(0);
      for (const t of this.#g ?? []) t !== void 0 && clearTimeout(t);
      this.#g?.fill(void 0);
    }
    if (
      (this.#_ && this.#_.fill(0),
      (this.#a = 0),
      (this.#h = 0),
      (this.#y.length = 0),
      (this.#b = 0),
      (this.#n = 0),
      this.#f && this.#r)
    ) {
      let t = this.#r,
        i;
      for (; (i = t?.shift()); ) this.#w?.(...i);
    }
  }
};
//#endregion
//#region src/kernel/memo.ts
/** Caches the results of a pure function for the most recently used inputs. */
function memoize(compute, max = 1e3) {
  const results = new I({ max });
  return (input) => {
    const cached = results.get(input);
    if (cached !== void 0) return cached;
    const result = compute(input);
    if (result !== void 0 && result !== null) results.set(input, result);
    return result;
  };
}
//#endregion
//#region src/kernel/clock.ts
const SECOND_MS = 1e3;
memoize((second) => `${/* @__PURE__ */ new Date(second * SECOND_MS).toISOString().slice(0, 19)}Z`);
//#endregion
//#region src/engine/child.ts
/** The process failed to start; `lines` are the last lines of its output. */
var StartFailure = class extends Error {
  failure;
  lines;
  constructor(failure, lines) {
    super(failure.text);
    this.failure = failure;
    this.lines = lines;
  }
};
const LAST_LINES = 20;
const START_MS = 120 * SECOND_MS;
const CLOSE_MS = 10 * SECOND_MS;
/** Threads for kills and compression, in addition to one per statement. */
const SPARE_THREADS = 4;
async function startChild({ program, options, log }) {
  const child = fork(program, [], {
    execArgv: [],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: {
      TZ: 'UTC',
      UV_THREADPOOL_SIZE: String(options.readers + options.writers + SPARE_THREADS),
    },
  });
  const lines = [];
  for (const stream of [child.stdout, child.stderr]) {
    if (!stream) continue;
    createInterface({ input: stream }).on('line', (line) => {
      log.debug({ line }, 'engine');
      lines.push(line);
      if (lines.length > LAST_LINES) lines.shift();
    });
  }
  const ended = new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(signal ? `signal ${signal}` : `exit code ${code}`));
  });
  const outputClosed = new Promise((resolve) => {
    child.once('error', () => resolve());
    child.once('close', () => resolve());
  });
  const send = (command) => {
    if (child.connected) child.send(command, () => {});
  };
  const kill = () => void child.kill('SIGKILL');
  const startTimeout = setTimeout(kill, START_MS);
  const report = await new Promise((resolve) => {
    child.once('message', resolve);
    ended.then((reason) =>
      resolve({
        failed: {
          isMissing: false,
          text: `the process stopped: ${reason}`,
        },
      }),
    );
    send({ open: options });
  });
  clearTimeout(startTimeout);
  if ('failed' in report) {
    const closeTimeout = setTimeout(kill, CLOSE_MS);
    await outputClosed;
    clearTimeout(closeTimeout);
    throw new StartFailure(report.failed, lines);
  }
  let isClosing = false;
  outputClosed.then(async () => {
    if (!isClosing)
      log.warn(
        {
          reason: await ended,
          lines,
        },
        'the engine stopped unexpectedly',
      );
  });
  return {
    pid: child.pid ?? 0,
    port: report.ready.port,
    ended,
    async close() {
      isClosing = true;
      send({ close: true });
      const closeTimeout = setTimeout(kill, CLOSE_MS);
      await ended;
      clearTimeout(closeTimeout);
    },
  };
}
//#endregion
//#region test/support/engine-http-server.ts
const ENGINE_PROGRAM = join(import.meta.dirname, '../../dist/engine.js');
const PASSWORDS = {
  reader: 'the-readers',
  writer: 'the-writers',
};
const MEBIBYTE = 2 ** 20;
function startEngineHttpServer(directory) {
  return startChild({
    program: ENGINE_PROGRAM,
    options: {
      directory,
      passwords: PASSWORDS,
      serverMemoryBytes: 700 * MEBIBYTE,
      queryMemoryBytes: 300 * MEBIBYTE,
      readers: 4,
      writers: 2,
    },
    log: {
      debug() {},
      warn() {},
    },
  });
}
/** For `--clickhouse-url`: a user that may create tables and write. */
const getWriterUrl = ({ port }) => `http://writer:${PASSWORDS.writer}@127.0.0.1:${port}`;
//#endregion
//#region test/support/postgres.ts
/** Creates an empty database. The caller must drop it. */
async function createDatabase(maintenanceUrl) {
  const name = `test_${process.pid}_${Math.random().toString(36).slice(2, 10)}`;
  const run = async (statement) => {
    const client = new pg.Client({ connectionString: maintenanceUrl });
    await client.connect();
    try {
      await client.query(statement);
    } finally {
      await client.end();
    }
  };
  await run(`CREATE DATABASE ${name}`);
  const url = new URL(maintenanceUrl);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    drop: () => run(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}
//#endregion
//#region test/support/server.ts
const PROGRAM = join(import.meta.dirname, '../../dist/main.js');
async function startServer(store, options = {}) {
  const { fleet: fleet$1 = fleet, args: given = [], sharedEngine = false, environment = {} } = options;
  const { postgresUrl = inject('postgresUrl') } = options;
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-test-'));
  const fleetFile = join(directory, 'fleet.json');
  writeFileSync(fleetFile, JSON.stringify(fleet$1));
  const database = store === 'postgres' ? await createDatabase(postgresUrl) : void 0;
  const engine = sharedEngine ? await startEngineHttpServer(join(directory, 'shared-engine')) : void 0;
  const args = [...given, ...(engine ? ['--clickhouse-url', getWriterUrl(engine)] : [])];
  const storeArgs = ['--data', join(directory, 'data'), ...(database ? ['--database-url', database.url] : [])];
  let running;
  const server = {
    store,
    directory,
    databaseUrl: database?.url,
    args,
    url: '',
    dashboardUrl: '',
    pid: 0,
    log: () => running.log(),
    call: (call) => client(call),
    stop: (signal) => running.stop(signal),
    async restart(again = args) {
      running = await run(
        ['serve', '--port', '0', '--fleet', fleetFile, '--rate-limit', '1000000/10s', ...storeArgs, ...again],
        environment,
      );
      Object.assign(server, {
        url: running.url,
        dashboardUrl: running.dashboardUrl,
        pid: running.pid,
      });
    },
    async remove() {
      await running.stop();
      await engine?.close();
      await database?.drop();
      rmSync(directory, {
        recursive: true,
        force: true,
      });
    },
  };
  const client = createClient(() => server);
  await server.restart();
  return server;
}
/** Starts the built program and waits for its ready line. */
async function run(args, environment = {}) {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    env: {
      PATH: process.env.PATH,
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    log += text;
  });
  const ended = new Promise((resolve) => child.once('exit', (code) => resolve(code)));
  const { url, dashboardUrl } = await new Promise((resolve, reject) => {
    if (child.stdout) createInterface({ input: child.stdout }).once('line', (line) => resolve(JSON.parse(line)));
    ended.then((code) =>
      reject(/* @__PURE__ */ new Error(`the server exited with ${code} before it was ready:\n${log}`)),
    );
  });
  return {
    url,
    dashboardUrl,
    pid: child.pid ?? 0,
    log: () => log,
    async stop(signal = 'SIGTERM') {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      return ended;
    },
  };
}
//#endregion
//#region test/hostile/loop-delay.ts
const PROBE = join(import.meta.dirname, 'loop-probe.cjs');
/** The environment of a server whose event loop is measured. */
const probeEnvironment = (file) => ({
  NODE_OPTIONS: `--require ${JSON.stringify(PROBE)}`,
  LOOP_PROBE_FILE: file,
});
/** The CPU times in milliseconds that the event loop of a server was held for. */
function createLoopDelays(file) {
  let seen = 0;
  return {
    /** The longest since the last call; 0 if none took long enough to be reported. */
    async takeLongest(settle) {
      for (let turn = 0; turn < 3; turn++) await settle();
      const all = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean).map(Number) : [];
      const added = all.slice(seen);
      seen = all.length;
      return Math.max(0, ...added);
    },
  };
}
//#endregion
//#region test/hostile/shapes.ts
/** Bodies of a given size that are expensive to read, decode, parse, check or store. */
const MIB$1 = 1048576;
const fill = (piece, bytes) => piece.repeat(Math.max(0, Math.floor(bytes / Buffer.byteLength(piece))));
/** `{"<name>":[piece,piece,…]}` */
const repeatInList =
  (piece) =>
  ({ list, bytes }) =>
    `{"${list}":[${fill(`${piece},`, bytes - list.length - piece.length - 32)}${piece}]}`;
/** `{"<name>":"<piece><piece>…"}` */
const repeatInText =
  (piece) =>
  ({ text, bytes }) =>
    `{"${text}":"${fill(piece, bytes - text.length - 32)}"}`;
/** `{"m0":0,"m1":0,…}` */
const createMembers =
  (format) =>
  ({ bytes }) => {
    const members = [];
    for (let size = 2; ; ) {
      const member = format(members.length);
      size += member.length + 1;
      if (size > bytes) return `{${members.join(',')}}`;
      members.push(member);
    }
  };
const nested = `${'['.repeat(97)}${']'.repeat(97)}`;
const SHAPES = {
  zeros: repeatInList('0'),
  nulls: repeatInList('null'),
  'empty objects': repeatInList('{}'),
  'empty lists': repeatInList('[]'),
  'nested lists': repeatInList(nested),
  'lists of lists': repeatInList(`[${fill('[0,0],', 600)}[]]`),
  'short strings': repeatInList('""'),
  'long numbers': repeatInList(`1.${'7'.repeat(300)}e-5`),
  'unknown members': createMembers((index) => `"m${index}":0`),
  'numeric members': createMembers((index) => `"${index * 7919}":0`),
  'repeated members': createMembers(() => '"name":0'),
  'members with long names': createMembers((index) => `"${index}${'n'.repeat(60)}":0`),
  'objects with new names': ({ list, bytes }) => {
    const objects = [];
    for (let size = 64; size < bytes; size += objects.at(-1)?.length ?? 0)
      objects.push(`{"a${objects.length}":0,"b${objects.length}":{}},`);
    objects.pop();
    return `{"${list}":[${objects.join('')}0]}`;
  },
  'a long string': repeatInText('x'),
  'a string of escapes': repeatInText('\\n'),
  'a string of escaped quotes': repeatInText('\\"'),
  'a string of escaped surrogate pairs': repeatInText('\\ud83d\\ude00'),
  'a string of unpaired surrogates': repeatInText('\\ud800'),
  'a string of characters of three bytes': repeatInText('漢'),
  'a string of characters of four bytes': repeatInText('😀'),
  'a string of NUL': repeatInText('\\u0000'),
  'a long number': ({ bytes }) => `{"name":${fill('7', bytes - 16)}}`,
  'a long member name': ({ bytes }) => `{"${fill('n', bytes - 16)}":0}`,
  whitespace: ({ bytes }) => `{${fill(' ', bytes - 2)}}`,
  'whitespace between values': repeatInList(`0${' '.repeat(2e3)}`),
  'opening brackets': ({ bytes }) => fill('[', bytes),
  commas: ({ bytes }) => fill(',', bytes),
  quotes: ({ bytes }) => fill('"', bytes),
  backslashes: ({ bytes }) => `"${fill('\\', bytes - 1)}`,
  'invalid UTF-8': ({ bytes }) => Buffer.alloc(bytes, 255),
  'an unfinished string': ({ bytes }) => `{"name":"${fill('x', bytes - 9)}`,
};
const tile = (index, series) => ({
  id: `tile-${index}`,
  name: `Tile ${index}`,
  x: 0,
  y: index,
  w: 12,
  h: 4,
  series,
});
const markdown = (piece, bytes) => {
  const one = {
    type: 'markdown',
    content: piece.repeat(Math.floor(5e4 / [...piece].length)),
  };
  const count = Math.floor(bytes / (Buffer.byteLength(JSON.stringify(one)) + 100));
  return JSON.stringify({
    name: 'Large',
    tiles: Array.from({ length: count }, (_, index) => tile(index, [one])),
  });
};
/** The largest valid dashboards, in bytes and in number of values. */
const LARGE_DASHBOARDS = {
  'much text': () => markdown('plain text ', 15.9 * MIB$1),
  'much text with line breaks': () => markdown('\n', 15.9 * MIB$1),
  'much text of three bytes per character': () => markdown('漢', 15.9 * MIB$1),
  'much text of four bytes per character': () => markdown('😀', 15.9 * MIB$1),
  'many series': () =>
    JSON.stringify({
      name: 'Many series',
      tags: ['a', 'b'],
      tiles: Array.from({ length: 500 }, (_, index) =>
        tile(
          index,
          Array.from({ length: 20 }, (_, at) => ({
            type: 'time',
            aggFn: 'quantile',
            level: 0.95,
            field: 'Duration',
            where: `ServiceName:"service-${at}" AND SeverityText:"ERROR"`,
            whereLanguage: 'lucene',
            groupBy: ['ServiceName'],
            dataSource: 'events',
            alias: `Series ${at}`,
            displayType: 'line',
            sortOrder: 'asc',
            numberFormat: {
              output: 'number',
              mantissa: 2,
            },
          })),
        ),
      ),
    }),
  'many invalid series': () =>
    JSON.stringify({
      name: 'Many invalid series',
      tiles: Array.from({ length: 500 }, (_, index) =>
        tile(
          index,
          Array.from({ length: 20 }, () => ({
            type: 'search',
            fields: [0, 0, 0, 0, 0, 0],
            groupBy: [0, 0, 0],
          })),
        ),
      ),
    }),
  'a last series that is invalid': () =>
    JSON.stringify({
      name: 'Late error',
      tiles: Array.from({ length: 500 }, (_, index) =>
        tile(
          index,
          Array.from({ length: 20 }, (_, at) => ({
            type: 'search',
            fields: Array.from({ length: 15 }, () => (index === 499 && at === 19 ? 0 : 'Body')),
          })),
        ),
      ),
    }),
};
const event = (index) =>
  JSON.stringify({
    id: `e${index}`,
    source: 'hostile',
    time: '2026-10-20T12:00:00Z',
    entityType: 'service',
    entityId: '0d8f2f2e-6b1a-4b0e-8f57-2b6d3c1a9e11',
    meter: 'computeCHC',
    quantity: 1,
  });
const lines = (format, bytes, limit = Number.POSITIVE_INFINITY) => {
  const all = [];
  for (let size = 0; all.length < limit; ) {
    const line = format(all.length);
    size += line.length + 1;
    if (size > bytes) break;
    all.push(line);
  }
  return all.join('\n');
};
const BATCH_BYTES = 32 * MIB$1;
/** Batches of usage events, with their content types. */
const BATCHES = {
  'empty lines': {
    type: 'application/x-ndjson',
    body: () => '\n'.repeat(BATCH_BYTES),
  },
  'lines of zero': {
    type: 'application/x-ndjson',
    body: () => '0\n'.repeat(BATCH_BYTES / 2),
  },
  'one long line': {
    type: 'application/x-ndjson',
    body: () => `{"id":"${'x'.repeat(33554416)}"}`,
  },
  'one long line of three-byte characters': {
    type: 'application/x-ndjson',
    body: () => fill('漢', BATCH_BYTES),
  },
  'empty lines between few events': {
    type: 'application/x-ndjson',
    body: () => lines((index) => `${' \n'.repeat(2e4)}${event(index)}`, BATCH_BYTES),
  },
  'lines of invalid UTF-8': {
    type: 'application/x-ndjson',
    body: () => Buffer.alloc(BATCH_BYTES, Buffer.from([255, 10])),
  },
  'valid events': {
    type: 'application/x-ndjson',
    body: () => lines(event, BATCH_BYTES),
  },
  'events of three-byte characters': {
    type: 'application/x-ndjson',
    body: () => lines((index) => JSON.stringify({ id: `${index}${'漢'.repeat(200)}` }), BATCH_BYTES / 3),
  },
  'an array of zeros': {
    type: 'application/json',
    body: () => `[${'0,'.repeat(BATCH_BYTES / 2 - 2)}0]`,
  },
  'an array of empty objects': {
    type: 'application/json',
    body: () => `[${'{},'.repeat(BATCH_BYTES / 3 - 2)}{}]`,
  },
  'an array with one long element': {
    type: 'application/json',
    body: () => `["${'x'.repeat(33554424)}"]`,
  },
  'an array of whitespace': {
    type: 'application/json',
    body: () => `[${' '.repeat(33554430)}]`,
  },
  'an array of valid events': {
    type: 'application/json',
    body: () => `[${lines(event, 30 * MIB$1).replaceAll('\n', ',')}]`,
  },
  'opening brackets': {
    type: 'application/json',
    body: () => '['.repeat(BATCH_BYTES),
  },
};
//#endregion
//#region test/hostile/size.test.ts
/**
 * No request holds the event loop for more than 100 ms of CPU time. The factor allows for a machine under load, on which
 * the same work takes more CPU time; what these tests prevent took between one and fifteen seconds.
 */
const MAX_HELD_MS = 400;
/** Writing a document of 16 MiB to libSQL is one call that takes about 100 ms, and so is reading it back. */
const MAX_STORING_MS = 1e3;
const MAX_RESIDENT_BYTES = 1.5 * 1024 ** 3;
const MIB = 1048576;
const MAX_BYTES = {
  '/v1': MIB,
  '/api/v2': 16 * MIB,
  '/console': 16384,
};
const IS_LONG = process.env.HOSTILE_REQUESTS !== void 0;
const VALUES = {
  organizationId: acme.id,
  serviceId: acme.secondary,
  keyId: '11111111-1111-4111-8111-111111111111',
  budgetId: '11111111-1111-4111-8111-111111111111',
  tokenId: '11111111-1111-4111-8111-111111111111',
  id: acme.dashboard,
  tileId: 'one',
  version: '1',
};
function listBodyOperations(document) {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { operationId, requestBody }]) => {
      const schema = requestBody?.content['application/json']?.schema;
      return schema
        ? [
            {
              id: operationId,
              method: method.toUpperCase(),
              path,
              schema,
            },
          ]
        : [];
    }),
  );
}
function createTarget({ path, schema }) {
  const prefix = path.startsWith('/v1') ? '/v1' : path.startsWith('/api/v2') ? '/api/v2' : '/console';
  const find = (type) =>
    Object.entries(schema.properties ?? {}).find(([, member]) => member.type === type)?.[0] ?? type;
  return {
    bytes: MAX_BYTES[prefix],
    list: find('array'),
    text: find('string'),
  };
}
/** The paths of lists, texts and free objects without a maximum size. */
function listUnlimited(schema, path) {
  const isUnlimited =
    (schema.type === 'array' && schema.maxItems === void 0) ||
    (schema.type === 'string' && schema.maxLength === void 0 && !schema.enum && !schema.format && !schema.pattern) ||
    (schema.additionalProperties === true && schema.maxProperties === void 0);
  const members = Object.entries(schema.properties ?? {}).flatMap(([name, member]) =>
    listUnlimited(member, `${path}.${name}`),
  );
  const elements = schema.items ? listUnlimited(schema.items, `${path}[]`) : [];
  const variants = (schema.anyOf ?? []).flatMap((variant) => listUnlimited(variant, path));
  return [...(isUnlimited ? [path] : []), ...members, ...elements, ...variants];
}
const authorization = (path) =>
  path.startsWith('/v1')
    ? `Basic ${Buffer.from(`${acme.admin.keyId}:${acme.admin.keySecret}`).toString('base64')}`
    : `Bearer ${acme.writer}`;
describe('the largest bodies', () => {
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-hostile-'));
  const file = join(directory, 'held');
  const delays = createLoopDelays(file);
  const table = [];
  let server;
  let operations = [];
  beforeAll(async () => {
    server = await startServer('libsql', {
      environment: probeEnvironment(file),
      args: ['--log-level', 'error'],
    });
    operations = listBodyOperations(await (await fetch(`${server.url}/openapi.json`)).json());
  });
  afterAll(async () => {
    await server.remove();
    rmSync(directory, {
      recursive: true,
      force: true,
    });
    const worst = table.sort((a, b) => b[2] - a[2]).slice(0, IS_LONG ? 40 : 5);
    console.info(worst.map(([name, status, ms]) => `${String(ms).padStart(5)} ms  ${status}  ${name}`).join('\n'));
  });
  const settle = () => fetch(`${server.url}/healthz`);
  async function send(name, { method, path }, body, { type = 'application/json', maxHeldMs = MAX_HELD_MS } = {}) {
    const url = server.url + path.replace(/\{(\w+)\}/g, (_, parameter) => VALUES[parameter] ?? parameter);
    const headers = {
      authorization: authorization(path),
      'content-type': type,
    };
    const response = await fetch(url, {
      method,
      headers,
      body,
    });
    await response.arrayBuffer();
    const heldMs = await delays.takeLongest(settle);
    table.push([name, response.status, heldMs]);
    expect(response.status, name).toBeLessThan(500);
    expect(heldMs, `${name} held the event loop for ${heldMs} ms of CPU time`).toBeLessThan(maxHeldMs);
    return response.status;
  }
  it('start with a quiet server', async () => {
    await fetch(`${server.url}/api/v2/dashboards`, { headers: { authorization: `Bearer ${acme.token}` } });
    await delays.takeLongest(settle);
    expect(operations.length).toBeGreaterThan(15);
  });
  it('are limited: every list, text and free object of a body has a maximum size', () => {
    for (const { id, schema } of operations.filter((operation) => operation.id !== 'usageEventsCreate'))
      expect(listUnlimited(schema, id)).toEqual([]);
  });
  it('of every shape hold the event loop briefly in every operation', { timeout: 18e5 }, async () => {
    for (const [at, operation] of operations.filter(({ id }) => id !== 'usageEventsCreate').entries())
      for (const [index, [name, create]] of Object.entries(SHAPES).entries()) {
        const target = createTarget(operation);
        if (!IS_LONG && target.bytes > MIB && (index + at) % 7 !== 0) continue;
        const body = create(target);
        expect(Buffer.byteLength(body), name).toBeLessThanOrEqual(target.bytes);
        await send(`${operation.id}: ${name}`, operation, body);
      }
  });
  it('hold the event loop briefly if they are valid dashboards', { timeout: 18e5 }, async () => {
    for (const [index, [name, create]] of Object.entries(LARGE_DASHBOARDS).entries()) {
      if (!IS_LONG && index % 2 !== 0) continue;
      const body = create();
      const expected = name.includes('invalid') ? 400 : 200;
      for (const [method, path] of [
        ['POST', '/api/v2/dashboards/validate'],
        ['POST', '/api/v2/dashboards'],
        ['PUT', '/api/v2/dashboards/{id}'],
      ]) {
        const maxHeldMs = path.endsWith('/validate') ? MAX_HELD_MS : MAX_STORING_MS;
        const status = await send(
          `${method} ${path}: ${name}`,
          {
            method,
            path,
          },
          body,
          { maxHeldMs },
        );
        expect(status, name).toBe(path.endsWith('/validate') ? 200 : expected);
      }
    }
  });
  it('hold the event loop briefly if they are usage events', { timeout: 18e5 }, async () => {
    const path = '/v1/organizations/{organizationId}/usageEvents';
    for (const [index, [name, { type, body }]] of Object.entries(BATCHES).entries())
      if (IS_LONG || index % 2 === 0)
        await send(
          `usageEventsCreate: ${name}`,
          {
            method: 'POST',
            path,
          },
          body(),
          { type },
        );
  });
  it('do not fill the memory', () => {
    const peak = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1];
    expect(Number(peak) * 1024).toBeLessThan(MAX_RESIDENT_BYTES);
  });
});
