// What runs in the page: before its own scripts, or handed over by name. Nothing here may use what stands outside its function.

/** A frame in which everything has been drawn is through when the task behind it runs. */
export function watchLoad() {
  const { promise, resolve } = Promise.withResolvers();
  const seen = { longTasks: [], isShown: promise };
  window.bench = seen;
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) seen.longTasks.push([startTime, startTime + duration]);
  }).observe({ type: 'longtask', buffered: true });
  const isShown = () =>
    document.querySelector('#root table tbody tr') !== null &&
    document.querySelector('.mantine-Skeleton-root') === null;
  const look = () => {
    if (!isShown()) requestAnimationFrame(look);
    else setTimeout(() => resolve(performance.now()));
  };
  requestAnimationFrame(look);
}

export function watchPaint() {
  window.bench = new Promise((resolve) => {
    new PerformanceObserver((list) => {
      for (const { name, startTime } of list.getEntries()) if (name === 'first-contentful-paint') resolve(startTime);
    }).observe({ type: 'paint', buffered: true });
  });
}

/**
 * Ready: everything of the overview is shown and the main thread is free. That is the end of the last task of more than 50 ms that is followed by
 * a second without any, or the moment when everything was shown, whichever is later.
 */
export async function loadFigures() {
  const { longTasks, isShown } = window.bench;
  const shownAt = await isShown;
  const readyAt = () => Math.max(shownAt, ...longTasks.map(([, end]) => end));
  while (performance.now() - readyAt() < 1000) await new Promise((resolve) => setTimeout(resolve, 100));
  const [paint] = performance.getEntriesByName('first-contentful-paint');
  const long = longTasks.map(([start, end]) => end - start);
  return { paintMs: paint.startTime, shownMs: shownAt, readyMs: readyAt(), longestTaskMs: Math.max(0, ...long) };
}

/**
 * Asks for tiles with this granularity, where the console leaves the choice to the server. `atHand`: answers by tile, which are given at once instead of
 * asking. A chart is drawn once it has stroked all of its series.
 */
export function watchTiles({ tiles, series, granularity, atHand }) {
  const { promise, resolve } = Promise.withResolvers();
  const seen = { inFlight: 0, most: 0, firstAt: 0, isPainted: promise, texts: {} };
  window.bench = seen;
  const { fetch: send } = window;
  window.fetch = async (address, options) => {
    const [, tile] = /\/tiles\/([^/]+)\/data\?/.exec(String(address)) ?? [];
    if (tile === undefined) return send(address, options);
    seen.inFlight += 1;
    seen.most = Math.max(seen.most, seen.inFlight);
    const response = atHand ? new Response(atHand[tile]) : await send(`${address}&granularity=${granularity}`, options);
    response.json = async () => {
      const text = await Response.prototype.text.call(response);
      seen.texts[tile] = text;
      seen.inFlight -= 1;
      seen.firstAt ||= performance.now();
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
  const look = () => {
    const drawn = [...strokes].filter(([canvas, count]) => count >= series && canvas.isConnected).length;
    if (drawn < tiles) requestAnimationFrame(look);
    else setTimeout(() => resolve(performance.now()));
  };
  requestAnimationFrame(look);
}

export async function tileFigures() {
  const paintedAt = await window.bench.isPainted;
  const { firstAt, most, texts } = window.bench;
  const answers = performance.getEntriesByType('resource').filter(({ name }) => /\/tiles\/[^/]+\/data\?/.test(name));
  const lastByteAt = Math.max(...answers.map(({ responseEnd }) => responseEnd));
  return { afterLastByteMs: paintedAt - lastByteAt, afterFirstMs: paintedAt - firstAt, most, texts };
}

/** From top to bottom at a steady speed; a frame late is a frame less. */
export function scrollThrough(pixelsPerSecond) {
  return new Promise((resolve) => {
    const { scrollHeight } = document.documentElement;
    const way = scrollHeight - window.innerHeight;
    let startedAt;
    let frames = 0;
    let before;
    let longestMs = 0;
    const step = (now) => {
      startedAt ??= now;
      longestMs = Math.max(longestMs, now - (before ?? now));
      before = now;
      const done = ((now - startedAt) / 1000) * pixelsPerSecond;
      window.scrollTo(0, Math.min(done, way));
      if (done < way) {
        frames += 1;
        requestAnimationFrame(step);
      } else resolve({ perSecond: frames / ((now - startedAt) / 1000), longestMs });
    };
    requestAnimationFrame(step);
  });
}

/** The floor: the same answers, parsed and drawn by the bare library. */
export function drawBare({ texts, width, height, colours }) {
  const startedAt = performance.now();
  for (const text of texts) {
    const { data } = JSON.parse(text);
    const element = document.createElement('div');
    element.style.cssText = `display:inline-block;width:${width}px;height:${height}px`;
    document.body.append(element);
    const series = data.series.map((_, index) => ({
      stroke: colours[index % colours.length],
      width: 1,
      points: { show: false },
    }));
    const values = [data.buckets.map((at) => at / 1000), ...data.series.map((one) => one.values)];
    new window.uPlot({ width, height, legend: { show: false }, series: [{}, ...series] }, values, element);
  }
  return new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - startedAt)));
  });
}
