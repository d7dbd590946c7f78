import type { Mode } from '../../../../test/conformance/example.ts'
import { compareLines } from './lines.ts'
import type { News } from './news.ts'
import type { Shown, Trial } from './trial.ts'

const names: Readonly<Record<Mode, string>> = { plain: 'plain', stream: 'streamed' }

/** Lines of a request that are shown around what has changed. */
const around = 3

/** News as a person reads them. */
export function render(news: News): string {
  switch (news.event) {
    case 'started': {
      const { id, kind, version, folder } = news.plugin
      const what = `${id} ${version}, ${kind === 'area' ? 'an' : 'a'} ${kind}, in ${folder}, on a gateway with the mock provider.`
      const how =
        'Save a file to reload the plugin. Type a message, or a request as JSON, to try it. Ctrl-C ends.'
      return news.watches ? `${what}\n${how}` : what
    }
    case 'loaded':
      return `\nLoaded in ${news.ms} ms.`
    case 'refused':
      return `\nNot loaded: ${news.problem}${news.runs_on ? '\nThe previous version keeps running.' : ''}`
    case 'problem':
      return news.problem
    case 'call':
      return renderCall(news)
    case 'checks':
      return renderChecks(news)
  }
}

function renderCall({ title, modes, routes }: Extract<News, { event: 'call' }>): string {
  const trials = Object.entries(modes) as [Mode, Trial][]
  const [, first] = trials[0]!
  return [
    `Call: ${title}`,
    ...part('Request', requestLines(first)),
    ...part('Answer', answerLines(trials)),
    ...part(
      'Headers',
      union(trials, ({ headers }) => Object.entries(headers).map(([name, value]) => `${name}: ${value}`)),
    ),
    ...part(
      'Failures',
      union(trials, ({ failures }) => failures),
    ),
    ...part(
      'Hooks',
      union(trials, ({ hooks }) => hooks),
    ),
    ...part(
      'Findings',
      union(trials, ({ findings }) => findings.map(findingLine)),
    ),
    ...part(
      'Cost',
      trials.map(([mode, { cost }]) => `${cost.us} µs ${names[mode]}, median of ${cost.calls} calls`),
    ),
    ...part(
      'Routes',
      routes.map(({ route, status, body }) => `${route}: ${status} ${JSON.stringify(body)}`),
    ),
  ].join('\n')
}

/** A part with its name before the first of its lines; nothing where it has none. */
const part = (name: string, lines: readonly string[]): string[] =>
  lines.map((line, n) => `  ${(n === 0 ? name : '').padEnd(9)} ${line}`)

const union = (trials: readonly [Mode, Trial][], linesOf: (trial: Trial) => readonly string[]): string[] => [
  ...new Set(trials.flatMap(([, trial]) => linesOf(trial))),
]

const findingLine = ({ verdict, detail }: Trial['findings'][number]): string =>
  detail === undefined ? verdict : `${verdict} ${JSON.stringify(detail)}`

/** The request as the provider gets it, with the plugin's changes marked. */
function requestLines({ request: { before, after } }: Trial): string[] {
  if (after === undefined) return ['did not reach a provider']
  const lines = compareLines(before === undefined ? [] : linesOf(before), linesOf(after))
  if (before === undefined) return lines.map(({ text }) => `  ${text}`)
  if (lines.every(({ mark }) => mark === ' ')) return ['unchanged']
  const near = lines.map((_, n) =>
    lines.slice(Math.max(0, n - around), n + around + 1).some(({ mark }) => mark !== ' '),
  )
  return lines.flatMap(({ mark, text }, n) => (near[n] ? [`${mark} ${text}`] : near[n - 1] ? ['  …'] : []))
}

function answerLines(trials: readonly [Mode, Trial][]): string[] {
  return trials.flatMap(([mode, { answer }]) => {
    const [before, after] = [shownLine(answer.before), shownLine(answer.after)]
    const width = names.stream.length
    if (before === after) return [`  ${names[mode].padEnd(width)}  ${after}`]
    return [`- ${names[mode].padEnd(width)}  ${before}`, `+ ${names[mode].padEnd(width)}  ${after}`]
  })
}

const shownLine = ({ status, content }: Shown): string =>
  `${status}  ${typeof content === 'string' ? content : JSON.stringify(content)}`

function renderChecks({ checks, changed }: Extract<News, { event: 'checks' }>): string {
  const kept = checks.filter(({ ok }) => ok).length
  const told = checks.filter(({ check, ok }) => !ok || changed.includes(check))
  return [
    `Checks: ${kept} of ${checks.length} passed.`,
    ...told.map(
      ({ check, ok, problem }) =>
        `  ${ok ? '✓' : '✗'} ${check}${problem === undefined ? '' : `: ${problem}`}`,
    ),
  ].join('\n')
}

const linesOf = (value: unknown): string[] => (JSON.stringify(value, null, 2) ?? '').split('\n')
