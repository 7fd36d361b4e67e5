// Functions that run in the page. Each is serialized separately and must not use anything outside its body.

/** The task after an animation frame runs when the frame has been drawn. */
export function watchLoad() {
  const { promise, resolve } = Promise.withResolvers();
  const figures = { longTasks: [], rendered: promise };
  window.bench = figures;
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) figures.longTasks.push([startTime, startTime + duration]);
  }).observe({ type: 'longtask', buffered: true });
  const isRendered = () =>
    document.querySelector('#root table tbody tr') !== null &&
    document.querySelector('.mantine-Skeleton-root') === null;
  const poll = () => {
    if (!isRendered()) requestAnimationFrame(poll);
    else setTimeout(() => resolve(performance.now()));
  };
  requestAnimationFrame(poll);
}

export function watchPaint() {
  window.bench = new Promise((resolve) => {
    new PerformanceObserver((list) => {
      for (const { name, startTime } of list.getEntries()) if (name === 'first-contentful-paint') resolve(startTime);
    }).observe({ type: 'paint', buffered: true });
  });
}

/**
 * Ready: the overview is rendered and the main thread is free. That is the end of the last task of more than 50 ms that is followed by
 * a second without any, or the time of rendering, whichever is later.
 */
export async function loadFigures() {
  const { longTasks, rendered } = window.bench;
  const renderedAt = await rendered;
  const readyAt = () => Math.max(renderedAt, ...longTasks.map(([, end]) => end));
  while (performance.now() - readyAt() < 1000) await new Promise((resolve) => setTimeout(resolve, 100));
  const [paint] = performance.getEntriesByName('first-contentful-paint');
  const long = longTasks.map(([start, end]) => end - start);
  return { paintMs: paint.startTime, renderedMs: renderedAt, readyMs: readyAt(), longestTaskMs: Math.max(0, ...long) };
}

/**
 * Requests tiles with this granularity; the console would let the server choose. `responses` are used instead of requests, by tile id. A chart is
 * rendered when all of its series have been stroked.
 */
export function watchTiles({ tiles, series, granularity, responses }) {
  const { promise, resolve } = Promise.withResolvers();
  const figures = { inFlight: 0, maxInFlight: 0, firstAt: 0, rendered: promise, texts: {} };
  window.bench = figures;
  const { fetch: send } = window;
  window.fetch = async (address, options) => {
    const [, tile] = /\/tiles\/([^/]+)\/data\?/.exec(String(address)) ?? [];
    if (tile === undefined) return send(address, options);
    figures.inFlight += 1;
    figures.maxInFlight = Math.max(figures.maxInFlight, figures.inFlight);
    const response = responses
      ? new Response(responses[tile])
      : await send(`${address}&granularity=${granularity}`, options);
    response.json = async () => {
      const text = await Response.prototype.text.call(response);
      figures.texts[tile] = text;
      figures.inFlight -= 1;
      figures.firstAt ||= performance.now();
      return JSON.parse(text);
    };
    return response;
  };
  const strokes = new Map();
  const { stroke } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.stroke = function (...path) {
    if (path.length > 0) strokes.set(this.canvas, (strokes.get(this.canvas) ?? 0) + 1);
    return stroke.apply(this, path);
  };
  const poll = () => {
    const drawn = [...strokes].filter(([canvas, count]) => count >= series && canvas.isConnected).length;
    if (drawn < tiles) requestAnimationFrame(poll);
    else setTimeout(() => resolve(performance.now()));
  };
  requestAnimationFrame(poll);
}

export async function tileFigures() {
  const renderedAt = await window.bench.rendered;
  const { firstAt, maxInFlight, texts } = window.bench;
  const responses = performance.getEntriesByType('resource').filter(({ name }) => /\/tiles\/[^/]+\/data\?/.test(name));
  const lastByteAt = Math.max(...responses.map(({ responseEnd }) => responseEnd));
  return { afterLastByteMs: renderedAt - lastByteAt, afterFirstMs: renderedAt - firstAt, maxInFlight, texts };
}

/** Scrolls the page, or the element of a selector, at a constant speed and counts the frames: to its end, or for some time. */
export function scrollThrough({ pixelsPerSecond, selector, ms = Number.POSITIVE_INFINITY }) {
  const box = selector === undefined ? document.scrollingElement : document.querySelector(selector);
  const distance = box.scrollHeight - box.clientHeight;
  return new Promise((resolve) => {
    let startedAt;
    let frames = 0;
    let before;
    let longestMs = 0;
    const step = (now) => {
      startedAt ??= now;
      longestMs = Math.max(longestMs, now - (before ?? now));
      before = now;
      const done = ((now - startedAt) / 1000) * pixelsPerSecond;
      box.scrollTop = Math.min(done, distance);
      if (done < distance && now - startedAt < ms) {
        frames += 1;
        requestAnimationFrame(step);
      } else resolve({ perSecond: frames / ((now - startedAt) / 1000), longestMs });
    };
    requestAnimationFrame(step);
  });
}

/** A result is shown when the frame after the last of its rows has been drawn. */
export function watchResult(rows) {
  performance.setResourceTimingBufferSize(1000);
  const { promise, resolve } = Promise.withResolvers();
  window.bench = { shown: promise };
  const poll = () => {
    const table = document.querySelector('table[aria-label="Result"]');
    if (Number(table?.getAttribute('aria-rowcount') ?? 0) <= rows) requestAnimationFrame(poll);
    else setTimeout(() => resolve(performance.now()));
  };
  requestAnimationFrame(poll);
}

/** Resolves with the time of the frame that has the first element of a selector. */
export function watchFirst(selector) {
  const { promise, resolve } = Promise.withResolvers();
  window.bench = { drawn: promise };
  const poll = () => {
    if (!document.querySelector(selector)) requestAnimationFrame(poll);
    else requestAnimationFrame(() => setTimeout(() => resolve(performance.now())));
  };
  requestAnimationFrame(poll);
}

/** Since the navigation, and since the last byte of a response. */
export async function firstFigures(path) {
  const drawnMs = await window.bench.drawn;
  const response = performance.getEntriesByType('resource').find(({ name }) => name.includes(path));
  return { drawnMs, afterLastByteMs: drawnMs - response.responseEnd };
}

export async function resultFigures() {
  const shownAt = await window.bench.shown;
  // The page also reads the schema with statements.
  const statements = performance.getEntriesByType('resource').filter(({ name }) => /\/sql\/read$/.test(name));
  const [result] = statements.toSorted((a, b) => b.decodedBodySize - a.decodedBodySize);
  return { shownMs: Math.max(0, shownAt - result.responseEnd), bytes: result.decodedBodySize };
}

/** The baseline: the same responses, parsed and drawn by uPlot alone. */
export function drawWithLibrary({ texts, width, height, colors }) {
  const startedAt = performance.now();
  for (const text of texts) {
    const { data } = JSON.parse(text);
    const element = document.createElement('div');
    element.style.cssText = `display:inline-block;width:${width}px;height:${height}px`;
    document.body.append(element);
    const series = data.series.map((_, index) => ({
      stroke: colors[index % colors.length],
      width: 1,
      points: { show: false },
    }));
    const values = [data.buckets.map((at) => at / 1000), ...data.series.map(({ values }) => values)];
    new window.uPlot({ width, height, legend: { show: false }, series: [{}, ...series] }, values, element);
  }
  return new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - startedAt)));
  });
}
