// Before the charts, which it is for.
import './language.js'
import { useEffect, useRef } from 'preact/hooks'
import UPlot from 'uplot'
import { html } from '../html.js'

/**
 * A line of a chart: its name, its numbers, and the custom property that has its color.
 * @typedef {{ label: string, values: readonly (number | null)[], color: string }} Line
 */

const height = 180

/**
 * Numbers over time. The table below it, for readers of screens, says the same.
 * @param {{ title: string, times: readonly string[], lines: readonly Line[], format: (value: number | null) => string }} props
 */
export function TimeChart({ title, times, lines, format }) {
  const box = useRef(/** @type {HTMLDivElement | null} */ (null))
  const plot = useRef(/** @type {UPlot | undefined} */ (undefined))
  const data = dataOf(times, lines)

  useEffect(() => {
    const element = /** @type {HTMLDivElement} */ (box.current)
    const made = new UPlot(optionsOf(element, lines, format), data, element)
    plot.current = made
    const watch = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height }))
    watch.observe(element)
    return () => {
      watch.disconnect()
      made.destroy()
    }
  }, [lines.length])
  useEffect(() => plot.current?.setData(data), [data])

  return html`
    <figure class="chart">
      <figcaption>${title}</figcaption>
      <div ref=${box} aria-hidden="true"></div>
      <div class="unseen">
        <table>
          <caption>${title}</caption>
          <thead><tr><th>Time</th>${lines.map(({ label }) => html`<th>${label}</th>`)}</tr></thead>
          <tbody>
            ${times.map((at, n) => html`<tr><td>${at}</td>${lines.map(({ values }) => html`<td>${format(values[n] ?? null)}</td>`)}</tr>`)}
          </tbody>
        </table>
      </div>
    </figure>
  `
}

/**
 * @param {readonly string[]} times
 * @param {readonly Line[]} lines
 * @returns {UPlot.AlignedData}
 */
const dataOf = (times, lines) => [
  times.map((at) => Date.parse(at) / 1000),
  ...lines.map(({ values }) => [...values]),
]

/**
 * A color of the style sheet as canvases know it.
 * @param {HTMLElement} element
 * @param {string} property
 * @param {number} [opacity]
 */
function colorOf(element, property, opacity = 1) {
  const probe = element.appendChild(document.createElement('span'))
  probe.style.color = `var(${property})`
  const [red, green, blue] = getComputedStyle(probe).color.match(/[\d.]+/g) ?? []
  probe.remove()
  return `rgb(${red} ${green} ${blue} / ${opacity})`
}

/**
 * @param {HTMLElement} element
 * @param {readonly Line[]} lines
 * @param {(value: number | null) => string} format
 * @returns {UPlot.Options}
 */
function optionsOf(element, lines, format) {
  const grid = { stroke: colorOf(element, '--line'), width: 1 }
  const axis = { stroke: colorOf(element, '--faint'), grid, ticks: { show: false } }
  return {
    width: element.clientWidth || 300,
    height,
    cursor: { y: false },
    scales: { y: { range: (_, __, max) => [0, max > 0 ? max * 1.1 : 1] } },
    axes: [axis, { ...axis, size: 64, values: (_, splits) => splits.map((value) => format(value)) }],
    series: [
      {},
      ...lines.map(({ label, color }) => ({
        label,
        stroke: colorOf(element, color),
        fill: colorOf(element, color, 0.12),
        width: 2,
        points: {
          show: true,
          size: 6,
          fill: colorOf(element, color),
          filter: (/** @type {UPlot} */ plot, /** @type {number} */ line) =>
            aloneIn([...(plot.data[line] ?? [])]),
        },
        value: (/** @type {UPlot} */ _, /** @type {number | null} */ value) => format(value),
      })),
    ],
  }
}

/**
 * The places of numbers that have none beside them, so that no line shows them.
 * @param {readonly (number | null | undefined)[]} values
 */
const aloneIn = (values) =>
  values.flatMap((value, at) =>
    value != null && values[at - 1] == null && values[at + 1] == null ? [at] : [],
  )

/**
 * Amounts beside their names, the largest first.
 * @param {{ title: string, items: readonly { name: string, value: number }[], format: (value: number) => string }} props
 */
export function Bars({ title, items, format }) {
  const most = Math.max(...items.map(({ value }) => value), Number.MIN_VALUE)
  const sorted = [...items].sort((a, b) => b.value - a.value)
  return html`
    <figure class="chart">
      <figcaption>${title}</figcaption>
      <ul class="bars">
        ${sorted.map(
          ({ name, value }) => html`
            <li key=${name}>
              <span class="name">${name}</span>
              <meter min="0" max=${most} value=${value} aria-hidden="true"></meter>
              <span class="value">${format(value)}</span>
            </li>
          `,
        )}
      </ul>
    </figure>
  `
}
