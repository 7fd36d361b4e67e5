import * as chai from "chai";
import { JestAsymmetricMatchers, JestChaiExpect, JestExtend } from "@vitest/expect";
import { fork, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { channel, tracingChannel } from "node:diagnostics_channel";
import pg from "pg";
import fc from "fast-check";
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
const it = (n, o, f) => tests.push([n, typeof o === "function" ? o : f]);
it.each = (rows) => (n, f) => rows.forEach((r) => tests.push([n.replace("%s", Array.isArray(r) ? r[0] : r), () => f(...Array.isArray(r) ? r : [r])]));
const inject = () => process.env.H4_PG ?? "";
globalThis.__run = async () => {
	let bad = 0;
	const t0 = Date.now();
	for (const f of before) await f();
	try {
		for (const [n, f] of tests) try {
			await f();
			for (const e of each) await e();
			console.log("ok", n, Date.now() - t0);
		} catch (e) {
			bad++;
			console.log("FAIL", n, "\n", String(e?.message).slice(0, 3e3));
		}
	} finally {
		for (const f of after) await f();
	}
	console.log("bad", bad);
};
//#endregion
//#region test/support/fleet.ts
/** Two isolated organizations and a BASIC one, with the resources that the API tests need. */
const acme = {
	id: "7c0e4a34-3c0e-4f0b-9c4e-1d2f3a4b5c6d",
	admin: {
		keyId: "AcmeAdminKey00000001",
		keySecret: "acme-admin-secret"
	},
	developer: {
		keyId: "AcmeDevKey0000000001",
		keySecret: "acme-developer-secret"
	},
	query: {
		keyId: "AcmeQueryKey00000001",
		keySecret: "acme-query-secret"
	},
	disabled: {
		keyId: "AcmeDisabledKey00001",
		keySecret: "acme-disabled-secret"
	},
	expired: {
		keyId: "AcmeExpiredKey000001",
		keySecret: "acme-expired-secret"
	},
	token: "acme-dashboard-token",
	/** Can also change dashboards and sources. */
	writer: "acme-dashboard-writer",
	/** Production, first of its warehouse, paid organization: 16–120 GB per replica, 3 replicas. */
	primary: "0d8f2f2e-6b1a-4b0e-8f57-2b6d3c1a9e11",
	/** Production, second of the same warehouse. */
	secondary: "1e9f3f3f-7c2b-4c1f-9068-3c7e4d2baf22",
	/** Development: a fixed size. */
	development: "2fa04040-8d3c-4d20-a179-4d8f5e3cb033",
	warehouse: "3ab15151-9e4d-4e31-b28a-5e906f4dc144",
	/** Also the id of a source: ids are unique within one kind of resource. */
	dashboard: "64f0c1d2e3a4b5c6d7e8f900"
};
const globex = {
	id: "8d1f5b45-4d1f-4a1c-8d5f-2e3a4b5c6d7e",
	admin: {
		keyId: "GlobexAdminKey000001",
		keySecret: "globex-admin-secret"
	},
	token: "globex-dashboard-token",
	writer: "globex-dashboard-writer",
	/** Production, first of its warehouse, in a non-paid organization. */
	primary: "4bc26262-af5e-4f42-839b-6fa17a5ed255",
	dashboard: "64f0c1d2e3a4b5c6d7e8f901"
};
const initech = {
	id: "9e2a6c56-5e2a-4b2d-9e6a-3f4b5c6d7e8f",
	admin: {
		keyId: "InitechAdminKey00001",
		keySecret: "initech-admin-secret"
	},
	/** In a BASIC organization: one replica, a fixed size. */
	primary: "5cd37373-b06f-4053-94ac-70b28b6fe366"
};
const dashboard = (id, name) => ({
	id,
	name,
	tags: ["test"],
	tiles: [{
		id: "one",
		name: "One",
		x: 0,
		y: 0,
		w: 12,
		h: 4,
		series: [{
			type: "time",
			aggFn: "count",
			dataSource: "events"
		}]
	}]
});
const fleet = { organizations: [
	{
		id: acme.id,
		name: "Acme",
		tier: "SCALE",
		paid: true,
		services: [
			{
				id: acme.primary,
				name: "analytics",
				dataWarehouseId: acme.warehouse,
				isPrimary: true,
				numReplicas: 3,
				minTotalMemoryGb: 48,
				maxTotalMemoryGb: 360,
				idleScaling: true,
				idleTimeoutMinutes: 15
			},
			{
				id: acme.secondary,
				name: "reader",
				dataWarehouseId: acme.warehouse,
				isPrimary: false,
				numReplicas: 2
			},
			{
				id: acme.development,
				name: "sandbox",
				kind: "development"
			}
		],
		keys: [
			{
				name: "admin",
				...acme.admin,
				roles: ["admin"]
			},
			{
				name: "developer",
				...acme.developer,
				roles: ["developer"]
			},
			{
				name: "query",
				...acme.query,
				roles: ["query_endpoints"]
			},
			{
				name: "disabled",
				...acme.disabled,
				roles: ["admin"],
				state: "disabled"
			},
			{
				name: "expired",
				...acme.expired,
				roles: ["admin"],
				expireAt: "2026-01-01T00:00:00Z"
			}
		],
		dashboardTokens: [{
			name: "wallboard",
			token: acme.token
		}, {
			name: "editor",
			token: acme.writer,
			access: "write"
		}],
		sources: [{
			id: acme.dashboard,
			name: "Acme logs",
			kind: "log"
		}],
		dashboards: [dashboard(acme.dashboard, "Acme board")],
		usageCosts: [
			{
				date: "2026-10-01",
				entityType: "service",
				entityId: acme.primary,
				locked: true,
				metrics: {
					computeCHC: 12.345678,
					publicDataTransferCHC: .1
				}
			},
			{
				date: "2026-10-01",
				entityType: "datawarehouse",
				entityId: acme.warehouse,
				locked: true,
				metrics: {
					storageCHC: .2,
					backupCHC: .1
				}
			},
			{
				date: "2026-10-02",
				entityType: "service",
				entityId: acme.primary,
				metrics: { computeCHC: 1.000001 }
			}
		]
	},
	{
		id: globex.id,
		name: "Globex",
		tier: "SCALE",
		paid: false,
		services: [{
			id: globex.primary,
			name: "main",
			numReplicas: 2
		}],
		keys: [{
			name: "admin",
			...globex.admin,
			roles: ["admin"]
		}],
		dashboardTokens: [{
			name: "wallboard",
			token: globex.token
		}, {
			name: "editor",
			token: globex.writer,
			access: "write"
		}],
		sources: [{
			id: globex.dashboard,
			name: "Globex logs",
			kind: "log"
		}],
		dashboards: [dashboard(globex.dashboard, "Globex board")],
		usageCosts: [{
			date: "2026-10-01",
			entityType: "service",
			entityId: globex.primary,
			metrics: { computeCHC: 99.5 }
		}]
	},
	{
		id: initech.id,
		name: "Initech",
		tier: "BASIC",
		paid: true,
		services: [{
			id: initech.primary,
			name: "only"
		}],
		keys: [{
			name: "admin",
			...initech.admin,
			roles: ["admin"]
		}]
	}
] };
//#endregion
//#region test/support/client.ts
/** A client over real HTTP. Every response of a documented operation must match the OpenAPI document. */
function createClient(target) {
	const documents = /* @__PURE__ */ new Map();
	const ajv = new Ajv2020({
		strict: false,
		allErrors: true
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
		const { method = "GET", path } = call;
		const { url, dashboardUrl } = target();
		const base = path.startsWith("/api/v2") ? dashboardUrl : url;
		const response = await send(base, call);
		expectDocumented(await readDocument(base), ajv, method, path, response);
		return response;
	};
}
async function send(base, call) {
	const { method = "GET", path, body } = call;
	const payload = call.text ?? (body === void 0 ? null : JSON.stringify(body));
	const response = await fetch(base + path, {
		method,
		headers: createHeaders(call),
		body: payload
	});
	const text = await response.text();
	const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? false;
	return {
		status: response.status,
		headers: response.headers,
		text,
		json: isJson && text !== "" ? JSON.parse(text) : void 0
	};
}
function createHeaders({ key, token, body, headers = {} }) {
	const sent = { ...headers };
	if (key) sent.authorization ??= `Basic ${Buffer.from(`${key.keyId}:${key.keySecret}`).toString("base64")}`;
	if (token) sent.authorization ??= `Bearer ${token}`;
	if (body !== void 0) sent["content-type"] ??= "application/json";
	return sent;
}
function expectDocumented(document, ajv, method, path, { status, headers, json, text }) {
	if (status === 304 || method === "HEAD") return;
	const segments = (path.split("?")[0] ?? "").split("/");
	const pattern = Object.keys(document.paths).find((candidate) => {
		const parts = candidate.split("/");
		return parts.length === segments.length && parts.every((part, index) => part.startsWith("{") || part === segments[index]);
	});
	const operation = pattern === void 0 ? void 0 : document.paths[pattern]?.[method.toLowerCase()];
	if (!operation) return;
	const { responses } = operation;
	const response = responses[String(status)] ?? responses[`${String(status)[0]}XX`];
	const type = headers.get("content-type")?.split(";", 1)[0] ?? "";
	if (type !== "application/json" && response?.content?.[type]) return;
	const schema = response?.content?.["application/json"]?.schema;
	expect(schema, `${method} ${pattern} responded with ${status}, which is not documented`).toBeDefined();
	const validate = ajv.compile(schema);
	expect(validate(json), `${method} ${pattern} ${status}: ${ajv.errorsText(validate.errors)}\n${text.slice(0, 2e3)}`).toBe(true);
}
//#endregion
//#region ../../../work/main/node_modules/lru-cache/dist/esm/node/index.min.js
var S = channel("lru-cache:metrics");
var W = tracingChannel("lru-cache");
var L = typeof performance == "object" && performance && typeof performance.now == "function" ? performance : Date;
var R = () => S.hasSubscribers || W.hasSubscribers;
var U = /* @__PURE__ */ new Set();
var M = typeof process == "object" && process ? process : {};
var k = (d, e, t, i) => {
	typeof M.emitWarning == "function" ? M.emitWarning(d, e, t, i) : console.error(`[${t}] ${e}: ${d}`);
};
var H = (d) => !U.has(d);
var T = (d) => !!d && d === Math.floor(d) && d > 0 && isFinite(d);
var j = (d) => T(d) ? d <= Math.pow(2, 8) ? Uint8Array : d <= Math.pow(2, 16) ? Uint16Array : d <= Math.pow(2, 32) ? Uint32Array : d <= Number.MAX_SAFE_INTEGER ? O : null : null;
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
		let t = j(e);
		if (!t) return [];
		d.#o = !0;
		let i = new d(e, t);
		return d.#o = !1, i;
	}
	constructor(e, t) {
		if (!d.#o) throw new TypeError("instantiate Stack using Stack.create(n)");
		this.heap = new t(e), this.length = 0;
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
			isStale: (t) => e.#p(t)
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
		let { max: t = 0, ttl: i, ttlResolution: s = 1, ttlAutopurge: n, updateAgeOnGet: o, updateAgeOnHas: l, allowStale: h, dispose: r, onInsert: c, disposeAfter: m, noDisposeOnSet: _, noUpdateTTL: u, maxSize: g = 0, maxEntrySize: f = 0, sizeCalculation: y, fetchMethod: a, memoMethod: w, noDeleteOnFetchRejection: F, noDeleteOnStaleGet: b, allowStaleOnFetchRejection: p, allowStaleOnFetchAbort: A, ignoreFetchAbort: z, backgroundFetchSize: C = 1, perf: E } = e;
		if (this.backgroundFetchSize = C, E !== void 0 && typeof E?.now != "function") throw new TypeError("perf option must have a now() method if specified");
		if (this.#m = E ?? L, t !== 0 && !T(t)) throw new TypeError("max option must be a nonnegative integer");
		let v = t ? j(t) : Array;
		if (!v) throw new Error("invalid max value: " + t);
		if (this.#o = t, this.#c = g, this.maxEntrySize = f || this.#c, this.sizeCalculation = y, this.sizeCalculation) {
			if (!this.#c && !this.maxEntrySize) throw new TypeError("cannot set sizeCalculation without setting maxSize or maxEntrySize");
			if (typeof this.sizeCalculation != "function") throw new TypeError("sizeCalculation set to non-function");
		}
		if (w !== void 0 && typeof w != "function") throw new TypeError("memoMethod must be a function if defined");
		if (this.#I = w, a !== void 0 && typeof a != "function") throw new TypeError("fetchMethod must be a function if specified");
		if (this.#M = a, this.#U = !!a, this.#s = /* @__PURE__ */ new Map(), this.#i = Array.from({ length: t }).fill(void 0), this.#t = Array.from({ length: t }).fill(void 0), this.#l = new v(t), this.#u = new v(t), this.#a = 0, this.#h = 0, this.#y = x.create(t), this.#n = 0, this.#b = 0, typeof r == "function" && (this.#S = r), typeof c == "function" && (this.#O = c), typeof m == "function" ? (this.#w = m, this.#r = []) : (this.#w = void 0, this.#r = void 0), this.#T = !!this.#S, this.#D = !!this.#O, this.#f = !!this.#w, this.noDisposeOnSet = !!_, this.noUpdateTTL = !!u, this.noDeleteOnFetchRejection = !!F, this.allowStaleOnFetchRejection = !!p, this.allowStaleOnFetchAbort = !!A, this.ignoreFetchAbort = !!z, this.maxEntrySize !== 0) {
			if (this.#c !== 0 && !T(this.#c)) throw new TypeError("maxSize must be a positive integer if specified");
			if (!T(this.maxEntrySize)) throw new TypeError("maxEntrySize must be a positive integer if specified");
			this.#X();
		}
		if (this.allowStale = !!h, this.noDeleteOnStaleGet = !!b, this.updateAgeOnGet = !!o, this.updateAgeOnHas = !!l, this.ttlResolution = T(s) || s === 0 ? s : 1, this.ttlAutopurge = !!n, this.ttl = i || 0, this.ttl) {
			if (!T(this.ttl)) throw new TypeError("ttl must be a positive integer if specified");
			this.#k();
		}
		if (this.#o === 0 && this.ttl === 0 && this.#c === 0) throw new TypeError("At least one of max, maxSize, or ttl is required");
		if (!this.ttlAutopurge && !this.#o && !this.#c) {
			let D = "LRU_CACHE_UNBOUNDED";
			H(D) && (U.add(D), k("TTL caching without ttlAutopurge, max, or maxSize can result in unbounded memory consumption.", "UnboundedCacheWarning", D, d));
		}
	}
	getRemainingTTL(e) {
		return this.#s.has(e) ? 1 / 0 : 0;
	}
	#k() {
		let e = new O(this.#o), t = new O(this.#o);
		this.#d = e, this.#F = t;
		let i = this.ttlAutopurge ? Array.from({ length: this.#o }) : void 0;
		this.#g = i, this.#H = (h, r, c = this.#m.now()) => {
			t[h] = r !== 0 ? c : 0, e[h] = r, s(h, r);
		}, this.#R = (h) => {
			t[h] = e[h] !== 0 ? this.#m.now() : 0, s(h, e[h]);
		};
		let s = this.ttlAutopurge ? (h, r) => {
			if (i?.[h] && (clearTimeout(i[h]), i[h] = void 0), r && r !== 0 && i) {
				let c = setTimeout(() => {
					this.#p(h) ? (this.#E(this.#i[h], "expire"), i[h] = void 0) : s(h, l(h));
				}, r + 1);
				c.unref && c.unref(), i[h] = c;
			}
		} : () => {};
		this.#v = (h, r) => {
			if (e[r]) {
				let c = e[r], m = t[r];
				if (!c || !m) return;
				h.ttl = c, h.start = m, h.now = n || o();
				h.remainingTTL = c - (h.now - m);
			}
		};
		let n = 0, o = () => {
			let h = this.#m.now();
			if (this.ttlResolution > 0) {
				n = h;
				let r = setTimeout(() => n = 0, this.ttlResolution);
				r.unref && r.unref();
			}
			return h;
		};
		this.getRemainingTTL = (h) => {
			let r = this.#s.get(h);
			return r === void 0 ? 0 : l(r);
		};
		let l = (h) => {
			let r = e[h], c = t[h];
			if (!r || !c) return 1 / 0;
			return r - ((n || o()) - c);
		};
		this.#p = (h) => {
			let r = t[h], c = e[h];
			return !!c && !!r && (n || o()) - r > c;
		};
	}
	#R = () => {};
	#v = () => {};
	#H = () => {};
	#p = () => !1;
	#X() {
		let e = new O(this.#o);
		this.#b = 0, this.#_ = e, this.#x = (t) => {
			this.#b -= e[t], e[t] = 0;
		}, this.#N = (t, i, s, n) => {
			if (!T(s)) {
				if (this.#e(i)) return this.backgroundFetchSize;
				if (n) {
					if (typeof n != "function") throw new TypeError("sizeCalculation must be a function");
					if (s = n(i, t), !T(s)) throw new TypeError("sizeCalculation return invalid (expect positive integer)");
				} else throw new TypeError("invalid size value (must be positive integer). When maxSize or maxEntrySize is used, sizeCalculation or size must be set.");
			}
			return s;
		}, this.#j = (t, i, s) => {
			if (e[t] = i, this.#c) {
				let n = this.#c - e[t];
				for (; this.#b > n;) this.#G(!0);
			}
			this.#b += e[t], s && (s.entrySize = i, s.totalCalculatedSize = this.#b);
		};
	}
	#x = (e) => {};
	#j = (e, t, i) => {};
	#N = (e, t, i, s) => {
		if (i || s) throw new TypeError("cannot set size without setting maxSize or maxEntrySize on cache");
		return 0;
	};
	*#A({ allowStale: e = this.allowStale } = {}) {
		if (this.#n) for (let t = this.#h; this.#V(t) && ((e || !this.#p(t)) && (yield t), t !== this.#a);) t = this.#u[t];
	}
	*#z({ allowStale: e = this.allowStale } = {}) {
		if (this.#n) for (let t = this.#a; this.#V(t) && ((e || !this.#p(t)) && (yield t), t !== this.#h);) t = this.#l[t];
	}
	#V(e) {
		return e !== void 0 && this.#s.get(this.#i[e]) === e;
	}
	*entries() {
		for (let e of this.#A()) this.#t[e] !== void 0 && this.#i[e] !== void 0 && !this.#e(this.#t[e]) && (yield [this.#i[e], this.#t[e]]);
	}
	*rentries() {
		for (let e of this.#z()) this.#t[e] !== void 0 && this.#i[e] !== void 0 && !this.#e(this.#t[e]) && (yield [this.#i[e], this.#t[e]]);
	}
	*keys() {
		for (let e of this.#A()) {
			let t = this.#i[e];
			t !== void 0 && !this.#e(this.#t[e]) && (yield t);
		}
	}
	*rkeys() {
		for (let e of this.#z()) {
			let t = this.#i[e];
			t !== void 0 && !this.#e(this.#t[e]) && (yield t);
		}
	}
	*values() {
		for (let e of this.#A()) this.#t[e] !== void 0 && !this.#e(this.#t[e]) && (yield this.#t[e]);
	}
	*rvalues() {
		for (let e of this.#z()) this.#t[e] !== void 0 && !this.#e(this.#t[e]) && (yield this.#t[e]);
	}
	[Symbol.iterator]() {
		return this.entries();
	}
	[Symbol.toStringTag] = "LRUCache";
	find(e, t = {}) {
		for (let i of this.#A()) {
			let s = this.#t[i], n = this.#e(s) ? s.__staleWhileFetching : s;
			if (n !== void 0 && e(n, this.#i[i], this)) return this.#C(this.#i[i], t);
		}
	}
	forEach(e, t = this) {
		for (let i of this.#A()) {
			let s = this.#t[i], n = this.#e(s) ? s.__staleWhileFetching : s;
			n !== void 0 && e.call(t, n, this.#i[i], this);
		}
	}
	rforEach(e, t = this) {
		for (let i of this.#z()) {
			let s = this.#t[i], n = this.#e(s) ? s.__staleWhileFetching : s;
			n !== void 0 && e.call(t, n, this.#i[i], this);
		}
	}
	purgeStale() {
		let e = !1;
		for (let t of this.#z({ allowStale: !0 })) this.#p(t) && (this.#E(this.#i[t], "expire"), e = !0);
		return e;
	}
	info(e) {
		let t = this.#s.get(e);
		if (t === void 0) return;
		let i = this.#t[t], s = this.#e(i) ? i.__staleWhileFetching : i;
		if (s === void 0) return;
		let n = { value: s };
		if (this.#d && this.#F) {
			let o = this.#d[t], l = this.#F[t];
			if (o && l) n.ttl = o - (this.#m.now() - l), n.start = Date.now();
		}
		return this.#_ && (n.size = this.#_[t]), n;
	}
	dump() {
		let e = [];
		for (let t of this.#A({ allowStale: !0 })) {
			let i = this.#i[t], s = this.#t[t], n = this.#e(s) ? s.__staleWhileFetching : s;
			if (n === void 0 || i === void 0) continue;
			let o = { value: n };
			if (this.#d && this.#F) {
				o.ttl = this.#d[t];
				let l = this.#m.now() - this.#F[t];
				o.start = Math.floor(Date.now() - l);
			}
			this.#_ && (o.size = this.#_[t]), e.unshift([i, o]);
		}
		return e;
	}
	load(e) {
		this.clear();
		for (let [t, i] of e) {
			if (i.start) {
				let s = Date.now() - i.start;
				i.start = this.#m.now() - s;
			}
			this.#W(t, i.value, i);
		}
	}
	set(e, t, i = {}) {
		let { status: s = S.hasSubscribers ? {} : void 0 } = i;
		i.status = s, s && (s.op = "set", s.key = e, t !== void 0 && (s.value = t), s.cache = this);
		let n = this.#W(e, t, i);
		return s && S.hasSubscribers && S.publish(s), n;
	}
	#W(e, t, i, s) {
		let { ttl: n = this.ttl, start: o, noDisposeOnSet: l = this.noDisposeOnSet, sizeCalculation: h = this.sizeCalculation, status: r } = i, c = this.#e(t);
		if (t === void 0) return r && (r.set = "deleted"), this.delete(e), this;
		let { noUpdateTTL: m = this.noUpdateTTL } = i;
		r && !c && (r.value = t);
		let _ = this.#N(e, t, i.size || 0, h, r);
		if (this.maxEntrySize && _ > this.maxEntrySize) return this.#E(e, "set"), r && (r.set = "miss", r.maxEntrySizeExceeded = !0), this;
		let u = this.#n === 0 ? void 0 : this.#s.get(e);
		if (u === void 0) u = this.#n === 0 ? this.#h : this.#y.length !== 0 ? this.#y.pop() : this.#n === this.#o ? this.#G(!1) : this.#n, this.#i[u] = e, this.#t[u] = t, this.#s.set(e, u), this.#l[this.#h] = u, this.#u[u] = this.#h, this.#h = u, this.#n++, this.#j(u, _, r), r && (r.set = "add"), m = !1, this.#D && !c && this.#O?.(t, e, "add");
		else {
			this.#L(u);
			let g = this.#t[u];
			if (t !== g) {
				if (!l) if (this.#e(g)) {
					g !== s && g.__abortController.abort(/* @__PURE__ */ new Error("replaced"));
					let { __staleWhileFetching: f } = g;
					f !== void 0 && f !== t && (this.#T && this.#S?.(f, e, "set"), this.#f && this.#r?.push([
						f,
						e,
						"set"
					]));
				} else this.#T && this.#S?.(g, e, "set"), this.#f && this.#r?.push([
					g,
					e,
					"set"
				]);
				if (this.#x(u), this.#j(u, _, r), this.#t[u] = t, !c) {
					let f = g && this.#e(g) ? g.__staleWhileFetching : g, y = f === void 0 ? "add" : t !== f ? "replace" : "update";
					r && (r.set = y, f !== void 0 && (r.oldValue = f)), this.#D && this.onInsert?.(t, e, y);
				}
			} else c || (r && (r.set = "update"), this.#D && this.onInsert?.(t, e, "update"));
		}
		if (n !== 0 && !this.#d && this.#k(), this.#d && (m || this.#H(u, n, o), r && this.#v(r, u)), !l && this.#f && this.#r) {
			let g = this.#r, f;
			for (; f = g?.shift();) this.#w?.(...f);
		}
		return this;
	}
	pop() {
		try {
			for (; this.#n;) {
				let e = this.#t[this.#a];
				if (this.#G(!0), this.#e(e)) {
					if (e.__staleWhileFetching) return e.__staleWhileFetching;
				} else if (e !== void 0) return e;
			}
		} finally {
			if (this.#f && this.#r) {
				let e = this.#r, t;
				for (; t = e?.shift();) this.#w?.(...t);
			}
		}
	}
	#G(e) {
		let t = this.#a, i = this.#i[t], s = this.#t[t], n = this.#e(s);
		n && s.__abortController.abort(/* @__PURE__ */ new Error("evicted"));
		let o = n ? s.__staleWhileFetching : s;
		return (this.#T || this.#f) && o !== void 0 && (this.#T && this.#S?.(o, i, "evict"), this.#f && this.#r?.push([
			o,
			i,
			"evict"
		])), this.#x(t), this.#g?.[t] && (clearTimeout(this.#g[t]), this.#g[t] = void 0), e && (this.#i[t] = void 0, this.#t[t] = void 0, this.#y.push(t)), this.#n === 1 ? (this.#a = this.#h = 0, this.#y.length = 0) : this.#a = this.#l[t], this.#s.delete(i), this.#n--, t;
	}
	has(e, t = {}) {
		let { status: i = S.hasSubscribers ? {} : void 0 } = t;
		t.status = i, i && (i.op = "has", i.key = e, i.cache = this);
		let s = this.#Y(e, t);
		return S.hasSubscribers && S.publish(i), s;
	}
	#Y(e, t = {}) {
		let { updateAgeOnHas: i = this.updateAgeOnHas, status: s } = t, n = this.#s.get(e);
		if (n !== void 0) {
			let o = this.#t[n];
			if (this.#e(o) && o.__staleWhileFetching === void 0) return !1;
			if (this.#p(n)) s && (s.has = "stale", this.#v(s, n));
			else return i && this.#R(n), s && (s.has = "hit", this.#v(s, n)), !0;
		} else s && (s.has = "miss");
		return !1;
	}
	peek(e, t = {}) {
		let { status: i = R() ? {} : void 0 } = t;
		i && (i.op = "peek", i.key = e, i.cache = this), t.status = i;
		let s = this.#J(e, t);
		return S.hasSubscribers && S.publish(i), s;
	}
	#J(e, t) {
		let { status: i, allowStale: s = this.allowStale } = t, n = this.#s.get(e);
		if (n === void 0 || !s && this.#p(n)) {
			i && (i.peek = n === void 0 ? "miss" : "stale");
			return;
		}
		let o = this.#t[n], l = this.#e(o) ? o.__staleWhileFetching : o;
		return i && (l !== void 0 ? (i.peek = "hit", i.value = l) : i.peek = "miss"), l;
	}
	#P(e, t, i, s) {
		let n = t === void 0 ? void 0 : this.#t[t];
		if (this.#e(n)) return n;
		let o = new AbortController(), { signal: l } = i;
		l?.addEventListener("abort", () => o.abort(l.reason), { signal: o.signal });
		let h = {
			signal: o.signal,
			options: i,
			context: s
		}, r = (f, y = !1) => {
			let { aborted: a } = o.signal, w = i.ignoreFetchAbort && f !== void 0, F = i.ignoreFetchAbort || !!(i.allowStaleOnFetchAbort && f !== void 0);
			if (i.status && (a && !y ? (i.status.fetchAborted = !0, i.status.fetchError = o.signal.reason, w && (i.status.fetchAbortIgnored = !0)) : i.status.fetchResolved = !0), a && !w && !y) return m(o.signal.reason, F);
			let b = u, p = this.#t[t];
			return (p === u || p === void 0 && w && y) && (f === void 0 ? b.__staleWhileFetching !== void 0 ? this.#t[t] = b.__staleWhileFetching : this.#E(e, "fetch") : (i.status && (i.status.fetchUpdated = !0), this.#W(e, f, h.options, b))), f;
		}, c = (f) => (i.status && (i.status.fetchRejected = !0, i.status.fetchError = f), m(f, !1)), m = (f, y) => {
			let { aborted: a } = o.signal, w = a && i.allowStaleOnFetchAbort, F = w || i.allowStaleOnFetchRejection, b = F || i.noDeleteOnFetchRejection, p = u;
			if (this.#t[t] === u && (!b || !y && p.__staleWhileFetching === void 0 ? this.#E(e, "fetch") : w || (this.#t[t] = p.__staleWhileFetching)), F) return i.status && p.__staleWhileFetching !== void 0 && (i.status.returnedStale = !0), p.__staleWhileFetching;
			if (p.__returned === p) throw f;
		}, _ = (f, y) => {
			let a = this.#M?.(e, n, h);
			o.signal.addEventListener("abort", () => {
				(!i.ignoreFetchAbort || i.allowStaleOnFetchAbort) && (f(void 0), i.allowStaleOnFetchAbort && (f = (w) => r(w, !0)));
			}), a && a instanceof Promise ? a.then((w) => f(w === void 0 ? void 0 : w), y) : a !== void 0 && f(a);
		};
		i.status && (i.status.fetchDispatched = !0);
		let u = new Promise(_).then(r, c), g = Object.assign(u, {
			__abortController: o,
			__staleWhileFetching: n,
			__returned: void 0
		});
		return t === void 0 ? (this.#W(e, g, {
			...h.options,
			status: void 0
		}), t = this.#s.get(e)) : this.#t[t] = g, g;
	}
	#e(e) {
		if (!this.#U) return !1;
		let t = e;
		return !!t && t instanceof Promise && t.hasOwnProperty("__staleWhileFetching") && t.__abortController instanceof AbortController;
	}
	fetch(e, t = {}) {
		let i = W.hasSubscribers, { status: s = R() ? {} : void 0 } = t;
		t.status = s, s && t.context && (s.context = t.context);
		let n = this.#B(e, t);
		return s && i && (s.trace = !0, W.tracePromise(() => n, s).catch(() => {})), n;
	}
	async #B(e, t = {}) {
		let { allowStale: i = this.allowStale, updateAgeOnGet: s = this.updateAgeOnGet, noDeleteOnStaleGet: n = this.noDeleteOnStaleGet, ttl: o = this.ttl, noDisposeOnSet: l = this.noDisposeOnSet, size: h = 0, sizeCalculation: r = this.sizeCalculation, noUpdateTTL: c = this.noUpdateTTL, noDeleteOnFetchRejection: m = this.noDeleteOnFetchRejection, allowStaleOnFetchRejection: _ = this.allowStaleOnFetchRejection, ignoreFetchAbort: u = this.ignoreFetchAbort, allowStaleOnFetchAbort: g = this.allowStaleOnFetchAbort, context: f, forceRefresh: y = !1, status: a, signal: w } = t;
		if (a && (a.op = "fetch", a.key = e, y && (a.forceRefresh = !0), a.cache = this), !this.#U) return a && (a.fetch = "get"), this.#C(e, {
			allowStale: i,
			updateAgeOnGet: s,
			noDeleteOnStaleGet: n,
			status: a
		});
		let F = {
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
			signal: w
		}, b = this.#s.get(e);
		if (b === void 0) {
			a && (a.fetch = "miss");
			let p = this.#P(e, b, F, f);
			return p.__returned = p;
		} else {
			let p = this.#t[b];
			if (this.#e(p)) {
				let v = i && p.__staleWhileFetching !== void 0;
				return a && (a.fetch = "inflight", v && (a.returnedStale = !0)), v ? p.__staleWhileFetching : p.__returned = p;
			}
			let A = this.#p(b);
			if (!y && !A) return a && (a.fetch = "hit"), this.#L(b), s && this.#R(b), a && this.#v(a, b), p;
			let z = this.#P(e, b, F, f), E = z.__staleWhileFetching !== void 0 && i;
			return a && (a.fetch = A ? "stale" : "refresh", E && A && (a.returnedStale = !0)), E ? z.__staleWhileFetching : z.__returned = z;
		}
	}
	forceFetch(e, t = {}) {
		let i = W.hasSubscribers, { status: s = R() ? {} : void 0 } = t;
		t.status = s, s && t.context && (s.context = t.context);
		let n = this.#K(e, t);
		return s && i && (s.trace = !0, W.tracePromise(() => n, s).catch(() => {})), n;
	}
	async #K(e, t = {}) {
		let i = await this.#B(e, t);
		if (i === void 0) throw new Error("fetch() returned undefined");
		return i;
	}
	memo(e, t = {}) {
		let { status: i = S.hasSubscribers ? {} : void 0 } = t;
		t.status = i, i && (i.op = "memo", i.key = e, t.context && (i.context = t.context), i.cache = this);
		let s = this.#Q(e, t);
		return i && (i.value = s), S.hasSubscribers && S.publish(i), s;
	}
	#Q(e, t = {}) {
		let i = this.#I;
		if (!i) throw new Error("no memoMethod provided to constructor");
		let { context: s, status: n, forceRefresh: o, ...l } = t;
		n && o && (n.forceRefresh = !0);
		let h = this.#C(e, l), r = o || h === void 0;
		if (n && (n.memo = r ? "miss" : "hit", r || (n.value = h)), !r) return h;
		let c = i(e, h, {
			options: l,
			context: s
		});
		return n && (n.value = c), this.#W(e, c, l), c;
	}
	get(e, t = {}) {
		let { status: i = S.hasSubscribers ? {} : void 0 } = t;
		t.status = i, i && (i.op = "get", i.key = e, i.cache = this);
		let s = this.#C(e, t);
		return i && (s !== void 0 && (i.value = s), S.hasSubscribers && S.publish(i)), s;
	}
	#C(e, t = {}) {
		let { allowStale: i = this.allowStale, updateAgeOnGet: s = this.updateAgeOnGet, noDeleteOnStaleGet: n = this.noDeleteOnStaleGet, status: o } = t, l = this.#s.get(e);
		if (l === void 0) {
			o && (o.get = "miss");
			return;
		}
		let h = this.#t[l], r = this.#e(h);
		return o && this.#v(o, l), this.#p(l) ? r ? (o && (o.get = "stale-fetching"), i && h.__staleWhileFetching !== void 0 ? (o && (o.returnedStale = !0), h.__staleWhileFetching) : void 0) : (n || this.#E(e, "expire"), o && (o.get = "stale"), i ? (o && (o.returnedStale = !0), h) : void 0) : (o && (o.get = r ? "fetching" : "hit"), this.#L(l), s && this.#R(l), r ? h.__staleWhileFetching : h);
	}
	#$(e, t) {
		this.#u[t] = e, this.#l[e] = t;
	}
	#L(e) {
		e !== this.#h && (e === this.#a ? this.#a = this.#l[e] : this.#$(this.#u[e], this.#l[e]), this.#$(this.#h, e), this.#h = e);
	}
	delete(e) {
		return this.#E(e, "delete");
	}
	#E(e, t) {
		S.hasSubscribers && S.publish({
			op: "delete",
			delete: t,
			key: e,
			cache: this
		});
		let i = !1;
		if (this.#n !== 0) {
			let s = this.#s.get(e);
			if (s !== void 0) if (this.#g?.[s] && (clearTimeout(this.#g[s]), this.#g[s] = void 0), i = !0, this.#n === 1) this.#q(t);
			else {
				this.#x(s);
				let n = this.#t[s];
				if (this.#e(n) ? n.__abortController.abort(/* @__PURE__ */ new Error("deleted")) : (this.#T || this.#f) && (this.#T && this.#S?.(n, e, t), this.#f && this.#r?.push([
					n,
					e,
					t
				])), this.#s.delete(e), this.#i[s] = void 0, this.#t[s] = void 0, s === this.#h) this.#h = this.#u[s];
				else if (s === this.#a) this.#a = this.#l[s];
				else {
					let o = this.#u[s];
					this.#l[o] = this.#l[s];
					let l = this.#l[s];
					this.#u[l] = this.#u[s];
				}
				this.#n--, this.#y.push(s);
			}
		}
		if (this.#f && this.#r?.length) {
			let s = this.#r, n;
			for (; n = s?.shift();) this.#w?.(...n);
		}
		return i;
	}
	clear() {
		return this.#q("delete");
	}
	#q(e) {
		for (let t of this.#z({ allowStale: !0 })) {
			let i = this.#t[t];
			if (this.#e(i)) i.__abortController.abort(/* @__PURE__ */ new Error("deleted"));
			else {
				let s = this.#i[t];
				this.#T && this.#S?.(i, s, e), this.#f && this.#r?.push([
					i,
					s,
					e
				]);
			}
		}
		if (this.#s.clear(), this.#t.fill(void 0), this.#i.fill(void 0), this.#d && this.#F) {
			this.#d.fill(0), this.#F.fill(0);
			for (let t of this.#g ?? []) t !== void 0 && clearTimeout(t);
			this.#g?.fill(void 0);
		}
		if (this.#_ && this.#_.fill(0), this.#a = 0, this.#h = 0, this.#y.length = 0, this.#b = 0, this.#n = 0, this.#f && this.#r) {
			let t = this.#r, i;
			for (; i = t?.shift();) this.#w?.(...i);
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
memoize((second) => `${(/* @__PURE__ */ new Date(second * SECOND_MS)).toISOString().slice(0, 19)}Z`);
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
		stdio: [
			"ignore",
			"pipe",
			"pipe",
			"ipc"
		],
		env: {
			TZ: "UTC",
			UV_THREADPOOL_SIZE: String(options.readers + options.writers + SPARE_THREADS)
		}
	});
	const lines = [];
	for (const stream of [child.stdout, child.stderr]) {
		if (!stream) continue;
		createInterface({ input: stream }).on("line", (line) => {
			log.debug({ line }, "engine");
			lines.push(line);
			if (lines.length > LAST_LINES) lines.shift();
		});
	}
	const ended = new Promise((resolve) => {
		child.once("error", (error) => resolve(error.message));
		child.once("exit", (code, signal) => resolve(signal ? `signal ${signal}` : `exit code ${code}`));
	});
	const outputClosed = new Promise((resolve) => {
		child.once("error", () => resolve());
		child.once("close", () => resolve());
	});
	const send = (command) => {
		if (child.connected) child.send(command, () => {});
	};
	const kill = () => void child.kill("SIGKILL");
	const startTimeout = setTimeout(kill, START_MS);
	const report = await new Promise((resolve) => {
		child.once("message", resolve);
		ended.then((reason) => resolve({ failed: {
			isMissing: false,
			text: `the process stopped: ${reason}`
		} }));
		send({ open: options });
	});
	clearTimeout(startTimeout);
	if ("failed" in report) {
		const closeTimeout = setTimeout(kill, CLOSE_MS);
		await outputClosed;
		clearTimeout(closeTimeout);
		throw new StartFailure(report.failed, lines);
	}
	let isClosing = false;
	outputClosed.then(async () => {
		if (!isClosing) log.warn({
			reason: await ended,
			lines
		}, "the engine stopped unexpectedly");
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
		}
	};
}
//#endregion
//#region test/support/engine-http-server.ts
const ENGINE_PROGRAM = join(import.meta.dirname, "../../dist/engine.js");
const PASSWORDS = {
	reader: "the-readers",
	writer: "the-writers"
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
			writers: 2
		},
		log: {
			debug() {},
			warn() {}
		}
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
		drop: () => run(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
	};
}
//#endregion
//#region test/support/server.ts
const PROGRAM = join(import.meta.dirname, "../../dist/main.js");
async function startServer(store, options = {}) {
	const { fleet: fleet$1 = fleet, args: given = [], sharedEngine = false, environment = {} } = options;
	const { postgresUrl = inject("postgresUrl") } = options;
	const directory = mkdtempSync(join(tmpdir(), "pilothouse-test-"));
	const fleetFile = join(directory, "fleet.json");
	writeFileSync(fleetFile, JSON.stringify(fleet$1));
	const database = store === "postgres" ? await createDatabase(postgresUrl) : void 0;
	const engine = sharedEngine ? await startEngineHttpServer(join(directory, "shared-engine")) : void 0;
	const args = [...given, ...engine ? ["--clickhouse-url", getWriterUrl(engine)] : []];
	const storeArgs = [
		"--data",
		join(directory, "data"),
		...database ? ["--database-url", database.url] : []
	];
	let running;
	const server = {
		store,
		directory,
		databaseUrl: database?.url,
		args,
		url: "",
		dashboardUrl: "",
		pid: 0,
		log: () => running.log(),
		call: (call) => client(call),
		stop: (signal) => running.stop(signal),
		async restart(again = args) {
			running = await run([
				"serve",
				"--port",
				"0",
				"--fleet",
				fleetFile,
				"--rate-limit",
				"1000000/10s",
				...storeArgs,
				...again
			], environment);
			Object.assign(server, {
				url: running.url,
				dashboardUrl: running.dashboardUrl,
				pid: running.pid
			});
		},
		async remove() {
			await running.stop();
			await engine?.close();
			await database?.drop();
			rmSync(directory, {
				recursive: true,
				force: true
			});
		}
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
			...environment
		},
		stdio: [
			"ignore",
			"pipe",
			"pipe"
		]
	});
	let log = "";
	child.stderr?.setEncoding("utf8").on("data", (text) => {
		log += text;
	});
	const ended = new Promise((resolve) => child.once("exit", (code) => resolve(code)));
	const { url, dashboardUrl } = await new Promise((resolve, reject) => {
		if (child.stdout) createInterface({ input: child.stdout }).once("line", (line) => resolve(JSON.parse(line)));
		ended.then((code) => reject(/* @__PURE__ */ new Error(`the server exited with ${code} before it was ready:\n${log}`)));
	});
	return {
		url,
		dashboardUrl,
		pid: child.pid ?? 0,
		log: () => log,
		async stop(signal = "SIGTERM") {
			if (child.exitCode === null && child.signalCode === null) child.kill(signal);
			return ended;
		}
	};
}
/** Runs the suite on libSQL and on PostgreSQL; the latter is skipped if PostgreSQL is not installed. */
function onEachStore(name, suite) {
	describe(`${name} on libSQL`, () => suite("libsql"));
	describe.skipIf(inject("postgresUrl") === "")(`${name} on PostgreSQL`, () => suite("postgres"));
}
/** A server shared by the tests of the surrounding `describe`; use it inside tests and hooks only. */
function useServer(store, options = {}) {
	let server;
	beforeAll(async () => {
		server = await startServer(store, options);
	});
	afterAll(async () => server?.remove());
	return new Proxy({}, { get: (_, name) => Reflect.get(server ?? {}, name) });
}
//#endregion
//#region test/support/shapes.ts
const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
//#endregion
//#region test/support/hostile.ts
/** Strings that are known to break servers. */
const TEXTS = [
	"",
	" ",
	"\0",
	"a\0b",
	"\ud800",
	"\udfff\ud800",
	"😀".repeat(300),
	"a".repeat(300),
	"a".repeat(5e3),
	"__proto__",
	"constructor",
	"../..",
	"' OR 1=1 --",
	"\"; DROP TABLE api_keys; --",
	"%",
	"%00",
	"{{7*7}}",
	"‮",
	"\r\n\r\n",
	"0",
	"-1",
	"null",
	"NaN",
	"9999-12-31T23:59:59Z",
	"10000-01-01T00:00:00Z",
	"2026-02-30",
	"2027-01-01T00:00:00+23:59",
	"::/0",
	"0.0.0.0/0",
	"127.1",
	"1.2.3.4/33",
	"fe80::1%eth0"
];
const NUMBERS = [
	0,
	-0,
	-1,
	1,
	1.5,
	2,
	3.0000001,
	5,
	12,
	20,
	21,
	24,
	36,
	360,
	1068,
	1080,
	2 ** 31,
	2 ** 53,
	2 ** 63,
	1e21,
	1e308,
	5e-324,
	-1e308,
	4.999999999999999,
	24.000000000000004
];
/** All values, for test tables. */
const TROUBLESOME = [
	...TEXTS,
	...NUMBERS,
	true,
	false,
	null,
	[],
	{},
	[null],
	[[]],
	{ length: 1 }
];
const scalar = fc.oneof(fc.constantFrom(...TEXTS), fc.constantFrom(...NUMBERS), fc.string({ unit: "binary" }), fc.double({
	noNaN: true,
	noDefaultInfinity: true
}), fc.boolean(), fc.constant(null));
fc.oneof({
	weight: 3,
	arbitrary: scalar
}, {
	weight: 1,
	arbitrary: fc.jsonValue({ maxDepth: 4 })
}, {
	weight: 1,
	arbitrary: fc.array(scalar, { maxLength: 5 })
});
fc.jsonValue({ maxDepth: 5 }).map((value) => JSON.stringify(value));
const escaped = fc.string({
	unit: "binary",
	maxLength: 40
}).map((text) => encodeURIComponent(text.toWellFormed()));
const rawText = fc.string({
	unit: fc.integer({
		min: 33,
		max: 255
	}).map((code) => String.fromCharCode(code)),
	maxLength: 40
});
fc.oneof(fc.constantFrom("%00", "%2F", "%2f..%2f", "..", ".", "%2e%2e", "%", "%zz", "%ff", "%c0%af", "%ed%a0%80", "", "*", ":organizationId", "__proto__", "constructor", "a".repeat(300), "a".repeat(9e3), "%F0%9F%98%80", ";x=1", "@", "[object%20Object]"), escaped, rawText.map((text) => text.replace(/[?#]/g, "")));
//#endregion
//#region test/hostile/expressions.ts
const rejected = (language, attempts) => attempts.map(([name, text]) => ({
	name,
	language,
	text,
	outcome: "rejected"
}));
const harmless = (language, attempts) => attempts.map(([name, text]) => ({
	name,
	language,
	text,
	outcome: "harmless"
}));
const FILES = [
	["the scalar function file", "file('/etc/passwd') != ''"],
	["the scalar function file in upper case", "FILE('/etc/passwd') != ''"],
	["the scalar function file with a space", "file ('/etc/passwd') != ''"],
	["the function file back-quoted", "`file`('/etc/passwd') != ''"],
	["the function file double-quoted", "\"file\"('/etc/passwd') != ''"],
	["a file through a sub-select", "(SELECT * FROM file('/etc/passwd', 'LineAsString')) != ''"],
	["a file in IN", "Body IN (SELECT line FROM file('/etc/passwd', 'LineAsString', 'line String'))"],
	["a file in IN without parentheses", "Body IN file('/etc/passwd')"],
	["a table in IN", "Body IN system.users"],
	["INTO OUTFILE", "Body = 'x' INTO OUTFILE '/tmp/stolen'"],
	["INTO OUTFILE in a field", "1 INTO OUTFILE '/tmp/stolen' FORMAT CSV"],
	["catboost", "catboostEvaluate('/etc/passwd', 1)"],
	["getSetting", "getSetting('max_memory_usage') > 0"],
	["getMacro", "getMacro('replica') = 'x'"],
	["filesystem functions", "filesystemCapacity() > 0"],
	["loading a shared object", "loadLibrary('/tmp/x.so')"],
	["showCertificate", "mapContains(showCertificate(), 'x')"],
	["symbol addresses", "demangle(addressToSymbol(1)) = 'x'"]
];
const NETWORK = [
	["url", "(SELECT * FROM url('http://127.0.0.1:1/', 'CSV', 'a String')) = ''"],
	["url as a scalar", "url('http://127.0.0.1:1/') = ''"],
	["s3", "(SELECT count() FROM s3('http://127.0.0.1:1/x.csv')) > 0"],
	["remote", "(SELECT count() FROM remote('127.0.0.1:1', system.one)) > 0"],
	["mysql", "(SELECT count() FROM mysql('127.0.0.1:1', 'd', 't', 'u', 'p')) > 0"],
	["a dictionary", "dictGet('secrets', 'value', 1) = 'x'"],
	["a dictionary with a default", "dictGetOrDefault('secrets', 'value', 1, 'x') = 'x'"],
	["the host name", "hostName() = 'x'"],
	["a reverse DNS lookup", "reverseDNSQuery('127.0.0.1')"],
	["an executable", "(SELECT * FROM executable('id', 'TSV', 'x String')) = ''"],
	["a model over HTTP", "aiGenerateContent('x') = ''"]
];
const OTHER_DATA = [
	["a scalar sub-select", "(SELECT count() FROM logs) > 0"],
	["a scalar sub-select without parentheses", "SELECT 1"],
	["IN with a sub-select", "Body IN (SELECT Body FROM logs)"],
	["NOT IN with a sub-select", "Body NOT IN (SELECT Body FROM logs)"],
	["GLOBAL IN with a sub-select", "Body GLOBAL IN (SELECT Body FROM logs)"],
	["EXISTS", "EXISTS (SELECT 1 FROM system.one)"],
	["ANY over a sub-select", "Duration > ANY (SELECT 1)"],
	["WITH", "WITH 1 AS x SELECT x"],
	["a WITH in parentheses", "(WITH x AS (SELECT 1) SELECT * FROM x) = 1"],
	["UNION ALL", "Body = 'x' UNION ALL SELECT Body FROM logs"],
	["UNION after a parenthesis", "Body = 'x') UNION ALL (SELECT Body FROM logs"],
	["INTERSECT", "Body = 'x' INTERSECT SELECT 1"],
	["a JOIN", "Body = 'x' JOIN logs USING Body"],
	["ARRAY JOIN", "Body = 'x' ARRAY JOIN Buckets"],
	["arrayJoin", "arrayJoin(Buckets) = 1"],
	["GROUP BY", "Body = 'x' GROUP BY ALL WITH TOTALS"],
	["HAVING", "Body = 'x' HAVING 1"],
	["ORDER BY", "Body = 'x' ORDER BY 1"],
	["LIMIT", "Body = 'x' LIMIT 1000000"],
	["QUALIFY", "Body = 'x' QUALIFY 1"],
	["a column qualified by table", "logs.Body = 'x'"],
	["a column qualified by database", "default.logs.Body = 'x'"],
	["a system table", "system.tables.name = 'x'"],
	["all columns", "* = 1"],
	["COLUMNS", "COLUMNS('.*') = 1"],
	["joinGet", "joinGet('other', 'value', 1) = 'x'"],
	["a table function as a value", "numbers(10)"],
	["merge", "merge('default', '.*')"],
	["view", "view(SELECT 1)"],
	["currentUser", "currentUser() = 'x'"],
	["currentDatabase", "currentDatabase() = 'x'"],
	["version", "version() = 'x'"],
	["an aggregate", "count() > 1"],
	["an aggregate that collects rows", "groupArray(Body) = Buckets"],
	["a window function", "row_number() OVER () = 1"],
	["a window on a column", "Duration OVER (ORDER BY 1) = 1"],
	["FILTER", "count() FILTER (WHERE 1) = 1"],
	["lag", "lagInFrame(Duration) = 1"]
];
const TENANCY = [
	["the organization column", "OrganizationId = 'theirs'"],
	["the organization column, negated", "OrganizationId != 'ours'"],
	["the organization column, back-quoted", "`OrganizationId` = 'theirs'"],
	["the organization column, double-quoted", "\"OrganizationId\" = 'theirs'"],
	["the organization column, qualified", "logs.OrganizationId = 'theirs'"],
	["the organization column, escaped", "`Organization\\x49d` = 'theirs'"],
	["an alias that shadows the organization", "('theirs' AS OrganizationId) = 'theirs'"],
	["an alias without AS", "('theirs' OrganizationId) = 'theirs'"],
	["an alias of the whole expression", "1 AS OrganizationId"],
	["an alias on a column", "Body AS OrganizationId = 'x'"],
	["a back-quoted alias", "(1 AS `OrganizationId`) = 1"],
	["an alias in a call", "lower('x' AS OrganizationId) = 'x'"],
	["an alias in IN", "Body IN ('x' AS OrganizationId)"],
	["a lambda that shadows the organization", "arrayExists(OrganizationId -> 1, Buckets)"],
	["a closing parenthesis and OR", "1 = 1) OR (1 = 1"],
	["a closing parenthesis and a comment", "1 = 1) OR 1 = 1 --"],
	["the internal item of arrays", "_item = 1"],
	["a virtual column", "_part = 'all_1_1_0'"],
	["the virtual table column", "_table = 'logs'"],
	["an identifier built by a function", "identity(OrganizationId) = 'x'"],
	["a key of the organization", "OrganizationId.x = 'theirs'"],
	["the organization in brackets", "OrganizationId['x'] = 'theirs'"],
	["a tuple of everything", "tuple(*) = tuple(1)"],
	["getSubcolumn", "getSubcolumn(OrganizationId, 'x') = 1"]
];
const SETTINGS = [
	["SETTINGS", "Body = 'x' SETTINGS readonly = 0"],
	["SETTINGS in lower case", "Body = 'x' settings max_execution_time = 0"],
	["FORMAT", "Body = 'x' FORMAT JSON"],
	["FORMAT with a template", "Body = 'x' FORMAT Template SETTINGS format_template_row = '/etc/passwd'"],
	["several statements", "Body = 'x'; DROP TABLE logs"],
	["several statements after a newline", "Body = 'x'\n;\nSET readonly = 0"],
	["SET ROLE", "1; SET ROLE ALL"],
	["SYSTEM", "1; SYSTEM SHUTDOWN"],
	["a parameter", "{p1:String} = Body"],
	["a parameter as an identifier", "{p1:Identifier} = 1"],
	["a parameter in a key", "LogAttributes[{p1:String}] = 'x'"],
	["a MySQL variable", "@@version = 1"],
	["a variable", "@x = 1"],
	["a cast with ::", "Body::String = 'x'"],
	["CAST", "CAST(Body AS UInt8) = 1"],
	["CAST as a function", "cast(Body, 'UInt8') = 1"],
	["accurateCast", "accurateCast(Body, 'Array(UInt64)') = 1"],
	["EXPLAIN", "EXPLAIN SELECT 1"],
	["INSERT", "INSERT INTO logs VALUES (1)"],
	["ALTER", "ALTER TABLE logs DELETE WHERE 1"],
	["a ternary", "1 ? 2 : 3"],
	["an array literal", "has(['a'], Body)"],
	["a tuple", "(Body, 1) = ('x', 1)"],
	["a tuple element", "Pair.1 = 1"],
	["a map literal", "map('a', 'b')['a'] = 'b'"],
	["a typed literal", "DATE '2026-01-01' = Day"],
	["apply", "Body APPLY lower"]
];
const EXHAUSTION = [
	["sleep", "sleep(3)"],
	["sleepEachRow", "sleepEachRow(3) = 0"],
	["repeat", "length(repeat('x', 1000000000)) > 0"],
	["range", "length(range(1000000000)) > 0"],
	["space", "length(space(1000000000)) > 0"],
	["leftPad", "leftPad('x', 1000000000) = 'x'"],
	["arrayWithConstant", "arrayWithConstant(1000000000, 'x')[1] = 'x'"],
	["randomString", "length(randomString(1000000000)) > 0"],
	["numbers in a sub-select", "(SELECT sum(number) FROM numbers(1000000000000)) > 0"],
	["arrayMap over a range", "arraySum(arrayMap(x -> x, range(1000000000))) > 0"],
	["exponential growth with replaceAll", `length(${"replaceAll(".repeat(9)}Body${", 'e', 'eeeeeeeeeeeeeeee')".repeat(9)}) > 0`],
	["replaceRegexpAll", "replaceRegexpAll(Body, '', 'xxxxxxxxxx') = ''"],
	["format", "format('{}{}{}', Body, Body, Body) = ''"],
	["a pattern longer than allowed", `match(Body, '${"a?".repeat(501)}')`],
	["a pattern from a column", "match(Body, Body)"],
	["a pattern from a function call", "match(Body, concat('(a+)+', Body))"],
	["a pattern with look-ahead", "match(Body, '(?!x)')"],
	["a back-reference", "match(Body, '(a)\\\\1')"],
	["many patterns", "multiMatchAny(Body, ['a', 'b'])"],
	["REGEXP as an operator", "Body REGEXP '(a+)+$'"],
	["fuzzy matching", "ngramDistance(Body, 'x') > 0"],
	["too many parentheses", `${"(".repeat(65)}1${")".repeat(65)} = 1`],
	["a hundred thousand parentheses", "(".repeat(9999)],
	["too many NOT operators", `${"NOT ".repeat(65)} 1`],
	["too many minus signs", `${"- ".repeat(65)}Duration > 0`],
	["too many nested calls", `${"abs(".repeat(65)}1${")".repeat(65)} = 1`],
	["too many brackets", `${"LogAttributes[".repeat(65)}'x'${"]".repeat(65)} = 'x'`],
	["too many nested CASE expressions", `${"CASE WHEN ".repeat(65)}1`],
	["a sum of too many terms", `${"1+".repeat(65)}1 > 0`],
	["chained comparisons", `1${" = 1".repeat(66)}`],
	["too many parts", `1=1${" OR 1=1".repeat(1e3)}`],
	["a list that is too long", `Duration IN (${"1,".repeat(1e3)}1)`],
	["an expression that is too long", `Body = '${"x".repeat(1e4)}'`],
	["a number out of range", `Duration = 1e${"9".repeat(400)}`],
	["a huge interval", "Timestamp > now() + INTERVAL 99999999999 YEAR"],
	["a substring of a billion characters", "substring(Body, 1, 1000000000) = Body"],
	["bit shifts", "bitShiftLeft(Body, 1000000000) = Body"],
	["geo polygons", "pointInPolygon((1, 1), [(0, 0)])"],
	["a huge decimal", "toDecimal256('1', 76) = 1"],
	["a machine learning model", "evalMLMethod(1, 2) = 1"]
];
const BREAKOUTS = [
	["a line comment", "Body = 'x' -- AND"],
	["a line comment without a space", "Body = 'x'--AND"],
	["a block comment", "Body = 'x' /* AND */"],
	["an unterminated block comment", "Body = 'x' /*"],
	["a nested comment", "Body = /* /* */ 'x' */"],
	["a hash comment", "Body = 'x' # AND"],
	["a hash-bang comment", "Body = 'x' #! AND"],
	["an unterminated string", "Body = 'x"],
	["a string that ends in a backslash", "Body = 'x\\'"],
	["an unterminated back-quoted name", "`Body = 1"],
	["an unterminated double-quoted name", "\"Body = 1"],
	["a name with a quote inside", "`Body` OR 1=1 `` = 'x'"],
	["a heredoc", "Body = $$x$$"],
	["a tagged heredoc", "Body = $a$x$a$"],
	["a hexadecimal string", "Body = x'4142'"],
	["a binary string", "Body = b'0101'"],
	["a NUL character", "Body = 'x\0'"],
	["a NUL character outside", "Body\0 = 'x'"],
	["an escaped NUL", "Body = 'x\\0y'"],
	["a byte escape that is not UTF-8", "Body = '\\xff\\xfe'"],
	["an unpaired surrogate", "Body = '\ud800'"],
	["an unpaired low surrogate", "Body = '\udc00'"],
	["a no-break space", "Body\xA0= 'x'"],
	["an ideographic space", "Body　= 'x'"],
	["a zero-width space", "Bo​dy = 'x'"],
	["a byte order mark", "﻿Body = 'x'"],
	["a right-to-left override", "Body = 'x' ‮ AND"],
	["a curly quote", "Body = ‘x’"],
	["a full-width quote", "Body = ＇x＇"],
	["a full-width equals sign", "Body ＝ 'x'"],
	["a full-width semicolon", "Body = 'x'；"],
	["a Cyrillic letter in a column", "Воdy = 'x'"],
	["a Cyrillic letter in a function", "lоwer(Body) = 'x'"],
	["a full-width function", "ｌower(Body) = 'x'"],
	["a dotless i", "lıke(Body, 'x')"],
	["a Kelvin sign", "Body LIKE 'x'"],
	["a line separator", "Body = 'x'\u2028 OR 1"],
	["a soft hyphen", "Bo­dy = 'x'"],
	["a combining mark", "Bodý = 'x'"],
	["an unknown letter", "ß = 'x'"],
	["a backslash outside quotes", "Body \\= 'x'"],
	["an adjacent string", "Body = 'x' 'y'"],
	["a stray quote", "Body = 'x''"],
	["SQL by concatenation", "Body = 'x' || (SELECT 1)"]
];
const SQL_HARMLESS = [
	["an injection that is a value", "Body = ''' OR 1=1 --'"],
	["an injection with a backslash", "Body = 'x\\' OR 1=1 --'"],
	["a statement that is a value", "Body = '; DROP TABLE logs'"],
	["a comment that is a value", "Body = '/* x */ -- #'"],
	["a parameter that is a value", "Body = '{p1:String}'"],
	["a key that looks like SQL", "LogAttributes['x\\'] = 1 OR 1=1 --'] = 'x'"],
	["a key that looks like a parameter", "LogAttributes['{p1:String}'] = 'x'"],
	["a key in back-quotes", "LogAttributes.`a\\`) OR 1=1 --` = 'x'"],
	["a format that is a value", "Body = 'x FORMAT JSON SETTINGS readonly=0'"],
	["percent signs and backslashes", "Body LIKE '%\\\\%\\\\_%'"],
	["a tab and a newline in a value", "Body = 'a\\tb\\nc'"],
	["a real newline in a value", "Body = 'a\nb'"],
	["a zero-width space in a value", "Body = 'a​b'"],
	["curly quotes in a value", "Body = '“x”'"],
	["an emoji in a value", "Body = '😀'"],
	["a TSV NULL", "Body = '\\\\N'"],
	["an always-true condition", "1 = 1 OR true"],
	["a pattern that backtracks in other engines", "match(Body, '(a+)+(a+)+(a+)+$')"],
	["a pattern with many repetitions", "match(Body, '(a{1,100}){1,9}')"],
	["the maximum depth", `${"(".repeat(60)}1${")".repeat(60)} = 1`],
	["a list of the maximum length", `Duration IN (${"1,".repeat(999)}1)`],
	["a division by zero", "Duration % 0 = 1 OR Duration / 0 > 1"],
	["the largest number", "Duration = 18446744073709551615 OR Duration > 99999999999999999999999999"],
	["a name of another table in a value", "Body IN ('system.users', 'OrganizationId')"]
];
const LUCENE_REJECTED = [
	["the organization column", "OrganizationId:theirs"],
	["the organization, negated", "-OrganizationId:ours"],
	["the organization with a wildcard", "OrganizationId:*"],
	["the organization in a group", "(error OR OrganizationId:(theirs))"],
	["the organization as a range", "OrganizationId:[a TO z]"],
	["the organization with an attribute", "OrganizationId.x:theirs"],
	["the organization with an escaped name", "Organization\\Id:theirs"],
	["another table", "system.users.name:x"],
	["a field with SQL in it", "Body')--:x"],
	["a field with a back-quote", "`Body`:x"],
	["an unknown field", "password:x"],
	["a virtual column", "_table:logs"],
	["a regular expression", "/(a+)+$/"],
	["a regular expression on a field", "Body:/.*/"],
	["fuzzy", "error~9999999"],
	["proximity", "\"a b\"~99999999"],
	["boost", "error^999999999"],
	["too many parentheses", `${"(".repeat(65)}x${")".repeat(65)}`],
	["ten thousand parentheses", "(".repeat(9999)],
	["too many NOT operators", `${"NOT ".repeat(65)}x`],
	["too many minus signs", `${"-".repeat(65)}x`],
	["too many words", "a ".repeat(2001)],
	["an expression that is too long", "x".repeat(10001)],
	["a wildcard that is too long", `${"a?".repeat(200)}*`],
	["an unterminated phrase", "\"x"],
	["an unterminated range", "Duration:[1 TO 2"],
	["an unterminated group", "Body:(x"],
	["a backslash at the end", "x\\"],
	["a NUL character", "x\0y"],
	["an escaped NUL character", "x\\\0y"],
	["an unpaired surrogate", "\ud800"],
	["curly quotes", "“x”"],
	["a no-break space", "x\xA0y"],
	["a zero-width space", "x​y"],
	["a right-to-left override", "x‮y"],
	["a tag character", "x󠁁"],
	["SQL braces", "{p1:String}"],
	["a closing parenthesis in a value", "Body:x')--"]
];
const LUCENE_HARMLESS = [
	["an injection as a word", "x'--"],
	["an injection as words", "' OR 1=1 --x"],
	["an injection as a phrase", "\"') OR 1=1 -- \""],
	["an injection in a value", "Body:x'--"],
	["an injection in an exact value", "Body:\"') OR ('1'='1\""],
	["a statement", "Body:\"x\"; DROP TABLE logs"],
	["a sub-select as words", "(SELECT * FROM logs)"],
	["a function as words", "file('/etc/passwd')"],
	["a comment as words", "error /*x --x"],
	["percent and underscore", "Body:%_%"],
	["percent and underscore, bare", "%_%"],
	["a backslash before a percent sign", "Body:\\\\%"],
	["an attribute with SQL in its name", "LogAttributes.x'\\]=1--:y"],
	["an attribute with a parameter in its name", "LogAttributes.\\{p1\\:String\\}:y"],
	["an attribute with a back-quote", "LogAttributes.a`b:y"],
	["regular expression characters in a wildcard", "(.+)+$*"],
	["brackets in a wildcard", "a\\[^b\\]*".replace("^", "\\^")],
	["a pattern that backtracks in other engines", "a*a*a*a*a*a*a*a*b"],
	["only stars", "*****"],
	["only question marks", "?????"],
	["stars in a field", "Body:*a*a*a*a*a*a*b*"],
	["a format and settings as words", "x FORMAT JSON SETTINGS readonly=0"],
	["a parameter as a phrase", "\"{p1:String}\""],
	["a URL of the cloud", "http://169.254.169.254/latest/meta-data"],
	["an emoji", "😀"],
	["a TSV NULL", "Body:\"\\\\N\""],
	["a word of nine thousand dashes", "\\-".repeat(4500)],
	["a word of two thousand tokens", "a-".repeat(2e3)]
];
const FIELDS = [
	["an aggregate", "sum(Duration)"],
	["an aggregate with a state", "sumState(Duration)"],
	["a closing parenthesis", "Duration) FROM logs --"],
	["another column after a comma", "Duration, OrganizationId"],
	["the organization", "OrganizationId"],
	["an alias", "Duration AS OrganizationId"],
	["an alias without AS", "Duration OrganizationId"],
	["a sub-select", "(SELECT max(Duration) FROM logs)"],
	["a star", "*"],
	["a file", "file('/etc/passwd')"],
	["several statements", "Duration; SELECT 1"],
	["a format", "Duration FORMAT Null"],
	["settings", "Duration SETTINGS max_threads = 64"],
	["an OVER", "Duration OVER ()"],
	["nothing", " "],
	["a tuple", "(Duration, Body)"],
	["a lambda", "x -> x"],
	["a column transformer", "* EXCEPT Body"],
	["DISTINCT", "DISTINCT Duration"]
];
const GROUPS = [
	["WITH TOTALS", "ServiceName WITH TOTALS"],
	["WITH ROLLUP", "ServiceName WITH ROLLUP"],
	["GROUPING SETS", "GROUPING SETS ((ServiceName), ())"],
	["ALL", "ALL"],
	["the organization", "OrganizationId"],
	["the organization through a function", "if(1, OrganizationId, '')"],
	["the organization in a concatenation", "concat(ServiceName, OrganizationId)"],
	["an alias", "ServiceName AS g"],
	["a HAVING", "ServiceName HAVING 1"],
	["an ORDER BY", "ServiceName ORDER BY 1"],
	["a LIMIT BY", "ServiceName LIMIT 1 BY ServiceName"],
	["arrayJoin", "arrayJoin(range(1000000000))"],
	["two groups", "ServiceName, Body"],
	["a random number", "rand()"],
	["the server", "hostName()"],
	["a dictionary", "dictGet('d', 'a', ServiceName)"],
	["a comment", "ServiceName -- x"]
];
const VALUES_HARMLESS = [
	["a constant", "1"],
	["a literal that looks like a column", "'OrganizationId'"],
	["a literal that looks like SQL", "'1 FROM logs --'"],
	["a key that looks like SQL", "LogAttributes['a\\'], OrganizationId --']"],
	["one replaceAll that lengthens strings", "replaceAll(ServiceName, 'a', 'aaaaaaaa')"]
];
const HOSTILE_EXPRESSIONS = [
	...[
		FILES,
		NETWORK,
		OTHER_DATA,
		TENANCY,
		SETTINGS,
		EXHAUSTION,
		BREAKOUTS
	].flatMap((list) => rejected("sql", list)),
	...harmless("sql", SQL_HARMLESS),
	...rejected("lucene", LUCENE_REJECTED),
	...harmless("lucene", LUCENE_HARMLESS),
	...rejected("field", FIELDS),
	...rejected("groupBy", GROUPS),
	...harmless("field", VALUES_HARMLESS),
	...harmless("groupBy", VALUES_HARMLESS)
];
//#endregion
//#region test/hostile/generate.ts
const NOW = Date.parse("2026-10-20T12:00:00Z");
const DATES = [
	"2026-10-01",
	"2026-10-15",
	"2026-10-31"
];
const TIMES = [
	"2026-10-20T12:00:00Z",
	"2026-10-20T13:30:00+02:00",
	String(NOW)
];
const SOURCES = [
	"logs",
	"traces",
	"metrics",
	acme.dashboard
];
const COLUMNS = [
	"ServiceName",
	"SeverityText",
	"Body",
	"Duration",
	"LogAttributes['ms']"
];
/** Plausible values of members and parameters whose schema does not say what they mean. */
const PLAUSIBLE = {
	sourceId: SOURCES,
	where: [
		"",
		"error",
		"ServiceName:\"api\"",
		"SeverityText = 1",
		...HOSTILE_EXPRESSIONS.map(({ text }) => text)
	],
	field: COLUMNS,
	groupBy: COLUMNS,
	fields: COLUMNS,
	source: [
		"10.0.0.0/8",
		"::1",
		"127.0.0.1",
		"0.0.0.0/0"
	],
	expireAt: [
		"2099-01-01T00:00:00Z",
		"",
		null
	],
	url: ["https://hooks.invalid/x", "http://127.0.0.1:9/x"],
	timezone: [
		"UTC",
		"Europe/Berlin",
		"Asia/Tokyo"
	],
	from_date: DATES,
	to_date: DATES,
	month: ["2026-10", "2026-11"],
	start: TIMES,
	end: TIMES,
	startTime: [NOW - 36e5, NOW],
	endTime: [NOW, NOW + 6e4],
	time: TIMES,
	entityId: [
		acme.primary,
		acme.warehouse,
		globex.primary
	],
	keyIdHash: [`${"C".repeat(42)}w=`],
	keySecretHash: [`${"D".repeat(42)}w=`],
	keyIdSuffix: ["abcd"],
	thresholds: [
		50,
		100,
		"forecast"
	],
	name: [
		"Fuzzed",
		"ünïcödé 😀",
		"a".repeat(255)
	],
	"if-match": [
		"*",
		"\"x\"",
		"W/\"x\", \"y\""
	],
	limit: ["1", "100"],
	groups: ["5"],
	before: [acme.id]
};
/** A value that the schema allows. `name` is that of the member or parameter. */
function generateValid(random, schema, name = "") {
	const plausible = PLAUSIBLE[name];
	if (schema.const !== void 0) return schema.const;
	if (schema.enum) return random.pick(schema.enum);
	if (schema.type === "array") return generateList(random, schema, name);
	if (schema.properties) return generateObject(random, schema);
	if (plausible && random.chance(.9)) return random.pick(plausible);
	if (schema.anyOf) return generateValid(random, random.pick(schema.anyOf), name);
	switch (schema.type) {
		case "integer":
		case "number": return generateNumber(random, schema);
		case "boolean": return random.chance(.5);
		case "null": return null;
		case "object": return {};
		default: return schema.format === "uuid" ? random.uuid() : "x".repeat(Math.max(schema.minLength ?? 0, random.integer(1, 12)));
	}
}
function generateList(random, { items = {}, minItems = 0, maxItems = 3 }, name) {
	const length = random.integer(minItems, Math.min(maxItems, minItems + 2));
	return Array.from({ length }, () => generateValid(random, items, name));
}
function generateObject(random, { properties = {}, required = [] }) {
	const object = {};
	for (const [name, schema] of Object.entries(properties)) if (required.includes(name) || random.chance(.5)) object[name] = generateValid(random, schema, name);
	return object;
}
function generateNumber(random, { minimum = 0, maximum = 1e3, multipleOf, type }) {
	if (multipleOf) return multipleOf * random.integer(Math.ceil(minimum / multipleOf), Math.floor(maximum / multipleOf));
	const number = random.integer(Math.ceil(minimum), Math.floor(Math.min(maximum, minimum + 1e6)));
	return type === "number" && random.chance(.3) ? Math.min(maximum, number + .5) : number;
}
/** A valid value with one to three members replaced, removed, repeated or added. */
function generateNearlyValid(random, schema) {
	const value = generateValid(random, schema);
	if (typeof value !== "object" || value === null) return generateWild(random);
	for (let count = random.integer(1, 3); count > 0; count--) {
		const places = listPlaces(value);
		if (places.length === 0) break;
		const { holder, name } = random.pick(places);
		const change = random.integer(1, 100);
		if (change <= 15) delete holder[name];
		else if (change <= 30) holder[random.pick([
			"__proto__",
			"constructor",
			"extra",
			"",
			"\0"
		])] = holder[name];
		else holder[name] = generateWild(random);
	}
	return value;
}
const listPlaces = (value) => Object.entries(value).flatMap(([name, member]) => [{
	holder: value,
	name
}, ...typeof member === "object" && member !== null ? listPlaces(member) : []]);
function generateWild(random, depth = 0) {
	if (depth < 4 && random.chance(.1)) return Array.from({ length: random.integer(0, 4) }, () => generateWild(random, depth + 1));
	if (depth < 4 && random.chance(.1)) return Object.fromEntries(Array.from({ length: random.integer(0, 4) }, () => [String(random.pick(TROUBLESOME)), generateWild(random, depth + 1)]));
	return random.pick(TROUBLESOME);
}
/** Bytes that are JSON, nearly JSON or nothing like it. */
function generateWildBody(random) {
	switch (random.integer(0, 6)) {
		case 0: return JSON.stringify(generateWild(random));
		case 1: return JSON.stringify({ x: generateWild(random) }).slice(0, -1);
		case 2: return Uint8Array.from({ length: random.integer(0, 200) }, () => random.integer(0, 255));
		case 3: return `${"[".repeat(random.integer(90, 110))}${"]".repeat(random.integer(90, 110))}`;
		case 4: return `{"name":${"9".repeat(random.integer(1, 400))}}`;
		case 5: return `{"name":"x","name":${JSON.stringify(generateWild(random))}}`;
		default: return random.pick([
			"",
			"null",
			"[]",
			"{}",
			"﻿{}",
			" ",
			"NaN",
			"{\"a\":1}{\"a\":2}",
			"{'a':1}",
			"{\"a\":1,}",
			"\0"
		]);
	}
}
/** Text for a path segment or a query parameter, escaped or not. */
function generateWildText(random) {
	const text = String(random.pick(TROUBLESOME)).toWellFormed().slice(0, 400);
	return random.chance(.9) ? encodeURIComponent(text) : random.pick([
		"%",
		"%zz",
		"%ff",
		"..",
		"%2e%2e",
		"%00",
		"+",
		"[]",
		"&&",
		"="
	]);
}
//#endregion
//#region test/hostile/random.ts
function createRandom(seed) {
	let state = seed >>> 0;
	/** mulberry32, from 0 to 1. */
	const next = () => {
		state = state + 1831565813 >>> 0;
		let mixed = Math.imul(state ^ state >>> 15, state | 1);
		mixed ^= mixed + Math.imul(mixed ^ mixed >>> 7, mixed | 61);
		return ((mixed ^ mixed >>> 14) >>> 0) / 2 ** 32;
	};
	const integer = (min, max) => min + Math.floor(next() * (max - min + 1));
	return {
		integer,
		chance: (probability) => next() < probability,
		pick: (list) => list[integer(0, list.length - 1)],
		uuid: () => {
			const hex = Array.from({ length: 32 }, () => integer(0, 15).toString(16)).join("");
			return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
		}
	};
}
//#endregion
//#region test/hostile/fuzz.test.ts
const SEED = Number(process.env.HOSTILE_SEED ?? 12);
const REQUESTS = Number(process.env.HOSTILE_REQUESTS ?? 600);
const listOperations = ({ paths }) => Object.entries(paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, { operationId, parameters = [], requestBody }]) => ({
	id: operationId,
	method: method.toUpperCase(),
	path,
	parameters,
	body: requestBody?.content["application/json"]?.schema
})));
const KINDS = [
	"valid",
	"valid",
	"nearly valid",
	"nearly valid",
	"nearly valid",
	"wild"
];
const createKnownIds = () => ({
	organizationId: [
		acme.id,
		acme.id,
		acme.id.toUpperCase(),
		globex.id
	],
	serviceId: [
		acme.primary,
		acme.secondary,
		acme.development,
		globex.primary
	],
	id: [
		acme.dashboard,
		globex.dashboard,
		"logs"
	],
	tileId: ["one"],
	version: [
		"1",
		"2",
		"0",
		"99999999999"
	],
	keyId: [],
	tokenId: [],
	budgetId: [],
	activityId: []
});
/** Remembers the ids in a response, so that later requests find something to change. */
function learnIds(known, { id }, { status, json }) {
	if (status !== 200 || json === void 0) return;
	const [name, value] = {
		openapiKeyCreate: ["keyId", json.result?.key?.id],
		dashboardTokenCreate: ["tokenId", json.result?.dashboardToken?.id],
		budgetCreate: ["budgetId", json.result?.id],
		createDashboard: ["id", json.data?.id],
		createSource: ["id", json.data?.id],
		activityGetList: ["activityId", json.result?.[0]?.id]
	}[id] ?? [];
	if (name !== void 0 && typeof value === "string") known[name]?.push(value);
}
function generateCall(random, operation, known) {
	const kind = random.pick(KINDS);
	const { method, path, parameters, body } = operation;
	const isWild = () => kind === "wild" && random.chance(.5);
	const filled = path.replace(/\{(\w+)\}/g, (_, name) => {
		const ids = known[name] ?? [];
		if (isWild()) return generateWildText(random);
		return name !== "organizationId" && (ids.length === 0 || random.chance(.2)) ? random.uuid() : random.pick(ids);
	});
	const query = parameters.flatMap(({ in: place, name, required, schema }) => {
		if (place !== "query" || !(required || random.chance(.5)) || kind !== "valid" && random.chance(.1)) return [];
		const text = isWild() || kind === "nearly valid" && random.chance(.2) ? generateWildText(random) : encodeURIComponent(String(generateValid(random, schema, name)));
		return random.chance(.03) ? [`${name}=${text}`, `${name}=${text}`] : [`${name}=${text}`];
	});
	if (kind !== "valid" && random.chance(.1)) query.push(`${generateWildText(random)}=${generateWildText(random)}`);
	return {
		method,
		path: query.length === 0 ? filled : `${filled}?${query.join("&")}`,
		headers: generateHeaders(random, operation, kind),
		...method === "GET" || !body && random.chance(.8) ? {} : { text: generateBody(random, kind, body ?? {}) }
	};
}
function generateBody(random, kind, schema) {
	if (kind === "wild" && random.chance(.6)) return generateWildBody(random);
	return JSON.stringify(kind === "valid" ? generateValid(random, schema) : generateNearlyValid(random, schema)) ?? "";
}
const basic = ({ keyId, keySecret }) => `Basic ${Buffer.from(`${keyId}:${keySecret}`).toString("base64")}`;
function generateHeaders(random, { path, parameters }, kind) {
	const usual = path.startsWith("/v1") ? basic(acme.admin) : `Bearer ${acme.writer}`;
	const others = [
		basic(acme.developer),
		basic(globex.admin),
		`Bearer ${acme.token}`,
		basic(acme.disabled),
		"Basic",
		""
	];
	const headers = {
		authorization: random.chance(.93) ? usual : random.pick(others),
		"content-type": "application/json"
	};
	for (const { in: place, name, schema } of parameters) if (place === "header" && random.chance(.3)) headers[name] = String(generateValid(random, schema, name));
	if (random.chance(.2)) headers["accept-encoding"] = random.pick([
		"gzip",
		"br",
		"identity",
		"*",
		"gzip;q=0"
	]);
	if (kind !== "wild") return headers;
	const wild = [
		["content-type", random.pick([
			"text/plain",
			"application/json; charset=utf-16",
			"application/x-ndjson",
			"x",
			""
		])],
		["content-encoding", random.pick([
			"gzip",
			"identity",
			"br"
		])],
		["if-match", random.pick([
			"",
			"*",
			"\"",
			"W/",
			",".repeat(1e3)
		])],
		["if-none-match", random.pick([
			"*",
			"\"x\"",
			",".repeat(1e3)
		])],
		["cookie", random.pick([
			"pilothouse_session=x",
			"pilothouse_session=",
			"a=b; pilothouse_session=\"",
			"="
		])],
		["x-forwarded-for", random.pick([
			"1.2.3.4",
			"x",
			",".repeat(100),
			"::1"
		])],
		["x-request-id", "not-yours"],
		["x-pilothouse-csrf", "x"],
		["sec-fetch-site", "cross-site"],
		["accept", random.pick([
			"text/html",
			"text/csv",
			"*/*",
			"x"
		])],
		["range", "bytes=0-1"]
	];
	for (let count = random.integer(0, 2); count > 0; count--) {
		const [name, value] = random.pick(wild);
		headers[name] = value;
	}
	return headers;
}
const quote = (text) => `'${text.replaceAll("'", `'\\''`)}'`;
/** Repeats the request in a shell. */
function formatCurl(url, { method = "GET", path, headers = {}, text }) {
	const parts = [
		"curl",
		"-i",
		"--path-as-is",
		"-X",
		method,
		quote(url + path)
	];
	for (const [name, value] of Object.entries(headers)) parts.push("-H", quote(`${name}: ${value}`));
	if (typeof text === "string") parts.push("--data-binary", quote(text));
	else if (text) parts.unshift(`printf '${[...text].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("")}' |`);
	if (text && typeof text !== "string") parts.push("--data-binary", "@-");
	return parts.join(" ");
}
const SECRETS = [
	...[acme, globex].flatMap(({ admin, token, writer }) => [
		admin.keySecret,
		token,
		writer
	]),
	acme.developer.keySecret,
	acme.disabled.keySecret
];
function expectSound({ status, headers, text, json }) {
	if (status !== 503) expect(status).toBeLessThan(500);
	const requestId = headers.get("x-request-id");
	expect(requestId).toMatch(UUID_V4);
	if (json?.requestId !== void 0) expect(json.requestId).toBe(requestId);
	if (text !== "") expect(headers.get("content-type")).toMatch(/^(application\/json|text\/csv); charset=utf-8|^text\/(plain|html)/);
	expect(text).not.toMatch(/node_modules|\.[jt]s:\d|\n\s+at |DB::|SQLITE_|sqlState/);
	for (const secret of SECRETS) expect(text).not.toContain(secret);
}
async function fuzz(server, seed, requests) {
	const random = createRandom(seed);
	const { json } = await server.call({ path: "/openapi.json" });
	const operations = listOperations(json).filter(({ path }) => /^\/(v1|api\/v2|console)\//.test(path));
	expect(operations.length).toBeGreaterThan(40);
	const known = createKnownIds();
	const counts = {};
	for (let index = 0; index < requests; index++) {
		const operation = operations[index % operations.length];
		const call = generateCall(random, operation, known);
		try {
			const response = await server.call(call);
			expectSound(response);
			learnIds(known, operation, response);
			counts[response.status] = (counts[response.status] ?? 0) + 1;
		} catch (error) {
			const about = `request ${index} of seed ${seed} (${operation.id}):\n${formatCurl(server.url, call)}\n`;
			throw new Error(about + error.message, { cause: error });
		}
	}
	return counts;
}
onEachStore("fuzzed requests", (store) => {
	const server = useServer(store, { args: [
		"--max-keys",
		"100000",
		"--log-level",
		"error"
	] });
	it(`B2, B3, B6: ${REQUESTS} requests get documented responses`, { timeout: 36e5 }, async () => {
		const { pid } = server;
		const counts = await fuzz(server, SEED + (store === "postgres" ? 1 : 0), REQUESTS);
		console.info(`${store}: ${JSON.stringify(counts)}`);
		expect(counts[200], "valid requests succeed").toBeGreaterThan(REQUESTS / 10);
		expect(counts[400], "invalid requests are rejected").toBeGreaterThan(REQUESTS / 10);
		expect((await server.call({ path: "/healthz" })).status).toBe(200);
		expect(server.pid).toBe(pid);
	});
});
//#endregion
export {};
