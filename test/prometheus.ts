/** A sample of a scrape: a line of it. */
export interface Sample {
  /** With the ending of a histogram's line, such as `_bucket`. */
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

type Type = 'counter' | 'gauge' | 'histogram'

const types: readonly string[] = ['counter', 'gauge', 'histogram'] satisfies Type[]
const label = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/y
const sampleForm = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? ([+-]?(?:Inf|NaN|\d+(?:\.\d+)?(?:e[+-]?\d+)?))$/s
const aboutForm = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$/s

/**
 * The text format of Prometheus, read strictly: by its grammar, and by the rules of `promtool check metrics`. Throws for a text
 * that Prometheus would refuse, or that its linter would complain about.
 */
export class Scrape {
  readonly #families = new Map<string, { type: Type; samples: Sample[] }>()

  constructor(text: string) {
    if (!/^(?:[^\n]+\n)*$/.test(text)) throw new Error('there is an empty line, or the last one has no end')
    const helped = new Set<string>()
    let current = ''
    for (const line of text.split('\n').slice(0, -1)) {
      const [, kind, name = '', rest = ''] = aboutForm.exec(line) ?? []
      if (kind === 'HELP') {
        demand(!helped.has(name), `${name} has two helps, or its samples are not together`)
        helped.add(name)
        current = name
      } else if (kind === 'TYPE') {
        demand(name === current && !this.#families.has(name), `the type of ${name} is out of place`)
        demand(types.includes(rest), `${name} has the type ${rest}`)
        demand((rest === 'counter') === name.endsWith('_total'), `${name} is badly named for a ${rest}`)
        this.#families.set(name, { type: rest as Type, samples: [] })
      } else this.#add(line, current)
    }
    for (const [name, { type, samples }] of this.#families) {
      demand(samples.length > 0, `${name} has no samples`)
      demandUnique(samples)
      if (type === 'counter')
        demand(
          samples.every(({ value }) => value >= 0),
          `${name} is negative`,
        )
      if (type === 'histogram') for (const series of bySeries(samples)) checkHistogram(name, series)
    }
  }

  /** The sum of the samples with these labels; of a histogram, how many values it has. */
  value(name: string, labels: Readonly<Record<string, string>> = {}): number {
    const ending = this.#families.get(name)?.type === 'histogram' ? '_count' : ''
    return this.samples(name, labels, ending).reduce((sum, { value }) => sum + value, 0)
  }

  samples(name: string, labels: Readonly<Record<string, string>> = {}, ending = ''): readonly Sample[] {
    const isAsked = (sample: Sample): boolean =>
      sample.name === name + ending &&
      Object.entries(labels).every(([label, value]) => sample.labels[label] === value)
    return this.#families.get(name)?.samples.filter(isAsked) ?? []
  }

  #add(line: string, current: string): void {
    const [, name = '', labels = '', value = ''] = sampleForm.exec(line) ?? []
    const family = this.#families.get(current)
    demand(name !== '' && family !== undefined, `no sample: ${line}`)
    const own = family!.type === 'histogram' ? name.replace(/_(bucket|sum|count)$/, '') : name
    demand(own === current, `${name} stands below ${current}`)
    family!.samples.push({ name, labels: labelsIn(labels), value: Number(value.replace('Inf', 'Infinity')) })
  }
}

/** One series of a histogram: buckets that rise up to the number of all values, and a sum. */
function checkHistogram(name: string, series: readonly Sample[]): void {
  const ending = (what: string): number[] =>
    series.filter((sample) => sample.name === name + what).map(({ value }) => value)
  const bounds = series.flatMap(({ labels: { le } }) =>
    le === undefined ? [] : [le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le)],
  )
  const counts = ending('_bucket')
  demand(isRising(bounds, true) && isRising(counts, false), `${name} has buckets that do not rise`)
  demand(bounds.at(-1) === Number.POSITIVE_INFINITY, `${name} has no bucket without a bound`)
  demand(`${ending('_count')}` === `${counts.at(-1)}`, `${name} has another number than its buckets`)
  demand(ending('_sum').length === 1, `${name} has no sum`)
}

function labelsIn(text: string): Record<string, string> {
  const labels: Record<string, string> = {}
  label.lastIndex = 0
  while (label.lastIndex < text.length) {
    const at = label.lastIndex
    const [, name, value] = label.exec(text) ?? []
    demand(name !== undefined && !Object.hasOwn(labels, name), `bad labels at ${at}: ${text}`)
    labels[name!] = value!.replace(/\\(.)/g, (_, sign: string) => (sign === 'n' ? '\n' : sign))
  }
  return labels
}

const bySeries = (samples: readonly Sample[]): Iterable<Sample[]> =>
  Map.groupBy(samples, ({ labels: { le, ...labels } }) =>
    JSON.stringify(Object.entries(labels).toSorted()),
  ).values()

function demandUnique(samples: readonly Sample[]): void {
  const seen = new Set<string>()
  for (const { name, labels } of samples) {
    const series = JSON.stringify([name, Object.entries(labels).toSorted()])
    demand(!seen.has(series), `${series} is there twice`)
    seen.add(series)
  }
}

const isRising = (numbers: readonly number[], isStrict: boolean): boolean =>
  numbers.every(
    (number, i) => i === 0 || number > numbers[i - 1]! || (!isStrict && number === numbers[i - 1]),
  )

function demand(holds: boolean, problem: string): void {
  if (!holds) throw new Error(problem)
}
