// The charts, over the last 10 minutes. They share the place of the cursor.
const chartSpecs = [
  { title: "Messages a second", format: count, series: [["published", "published", 0], ["delivered", "delivered", 1]], area: true },
  { title: "Time to acknowledge, and token", format: micros, log: true,
    series: [["ackMedian", "median", 0], ["ackP99", "99 %", 1], ["token", "token round trip", 2]] },
  { title: "Collector beside latency", format: micros,
    series: [["ackP99", "acknowledge 99 %", 1], ["late", "late alarms 99 %", 2], ["gcPause", "GC pause", 3, "bars"]] },
  { title: "Repairs a second", format: count,
    series: [["requests", "requests", 0], ["repairs", "repairs", 2], ["drops", "dropped by the system", 4]] }
];
const historySeconds = 600;
// Between points that are further apart, nothing is known.
const gapSeconds = 15;
let points = [];
const charts = [];

function addPoints(added) {
  for (const point of added) {
    const last = points.at(-1);
    if (last && point.at < last.at - 60) { points = []; }
    else if (last && point.at <= last.at) { continue; }
    else if (last && point.at - last.at > gapSeconds) { points.push({ at: last.at + 1 }); }
    points.push(point);
  }
  const first = points.findIndex(point => point.at > points.at(-1).at - historySeconds);
  if (first > 0) { points.splice(0, first); }
}

const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function buildCharts() {
  const place = byId("charts");
  for (const spec of chartSpecs) {
    const figure = make("figure", "chart");
    const caption = make("figcaption");
    caption.append(make("h2", "", spec.title));
    const legend = make("ul", "legend");
    const values = spec.series.map(([, label, color]) => {
      const item = make("li");
      const key = make("span", "key key" + color);
      key.setAttribute("aria-hidden", "true");
      const value = make("span", "value", none);
      item.append(key, make("span", "", label), value);
      legend.append(item);
      return value;
    });
    caption.append(legend);
    const plot = make("div", "plot");
    plot.setAttribute("role", "img");
    figure.append(caption, plot);
    place.append(figure);
    charts.push({ spec, plot, values, drawn: null });
  }
  new ResizeObserver(() => {
    for (const chart of charts) { chart.drawn?.setSize(sizeOf(chart)); }
  }).observe(place);
}

const sizeOf = chart => ({ width: Math.max(200, chart.plot.clientWidth), height: chart.plot.clientHeight });

function seriesOf([, label, color, kind], area) {
  const stroke = style("--series" + color);
  return {
    label,
    stroke,
    width: kind === "bars" ? 0 : 1.5,
    fill: kind === "bars" ? stroke : area ? stroke + "1a" : undefined,
    paths: kind === "bars" ? uPlot.paths.bars({ size: [0.9, 6, 2] }) : undefined,
    points: { show: false },
    spanGaps: false
  };
}

function drawChart(chart) {
  chart.drawn?.destroy();
  const { spec } = chart;
  const text = style("--muted"), line = style("--grid");
  const axis = { stroke: text, font: "11px system-ui, sans-serif", grid: { stroke: line, width: 1 }, ticks: { show: false } };
  chart.drawn = new uPlot({
    ...sizeOf(chart),
    legend: { show: false },
    padding: [8, 12, 0, 0],
    cursor: { sync: { key: "qsm" }, points: { size: 6 }, drag: { x: false, y: false }, y: false },
    scales: {
      x: { time: true, range: (_, least, most) => [Math.max(least, most - historySeconds), most] },
      y: spec.log
        ? { distr: 3, range: (_, least, most) => least > 0 ? [10 ** Math.floor(Math.log10(least)), 10 ** Math.ceil(Math.log10(most * 1.01))] : [10, 1000] }
        : { range: (_, least, most) => [0, Math.max(most * 1.1, spec.format === count ? 4 : 1000)] }
    },
    axes: [
      { ...axis, size: 24, gap: 4, space: 70, grid: { show: false },
        values: (_, at) => at.map(second => clock.format(second * 1000).slice(0, second % 60 ? 8 : 5)) },
      { ...axis, size: 58, gap: 6, space: 28, ...(spec.log ? { splits: decades } : {}), values: (_, at) => at.map(value => value == null ? "" : value === 0 ? "0" : short(spec, value)) }
    ],
    series: [{}, ...spec.series.map(one => seriesOf(one, spec.area))],
    hooks: { setCursor: [() => showValues(chart)] }
  }, dataOf(spec), chart.plot);
  showValues(chart);
}

// Without the zeros behind a point.
const short = (spec, value) => spec.format(value).replace(/(\.\d*?)0+(?=\D|$)/, "$1").replace(/\.(?=\D|$)/, "");

function decades(_, __, least, most) {
  const marks = [];
  for (let power = Math.ceil(Math.log10(least) - 1e-9); power <= Math.log10(most) + 1e-9; power++) { marks.push(10 ** power); }
  return marks;
}

const dataOf = spec => [
  points.map(point => point.at),
  ...spec.series.map(([name]) => points.map(point => point[name] === undefined || (spec.log && !point[name]) ? null : point[name]))
];

// At the cursor, or of the present.
function showValues(chart) {
  const at = chart.drawn?.cursor.idx ?? points.length - 1;
  const point = points[at] ?? {};
  chart.spec.series.forEach(([name], i) => setText(chart.values[i], chart.spec.format(point[name])));
}

function redrawCharts() { charts.forEach(drawChart); }

function updateCharts() {
  for (const chart of charts) {
    if (!chart.drawn) { drawChart(chart); }
    chart.drawn.setData(dataOf(chart.spec));
    showValues(chart);
    const values = chart.spec.series.map(([name, label]) => label + " " + chart.spec.format(points.at(-1)?.[name])).join(", ");
    chart.plot.setAttribute("aria-label", chart.spec.title + ", now: " + values);
  }
}
