import { z } from 'zod'

/**
 * Cells are `unit * width` wide at the origin and 5 % of their distance from it further out, so a few hundred of them hold every
 * value there can be.
 */
const unit = 0.5
const width = 0.05
const half = 200
const cells = 2 * half + 1

/** Of a normal distribution: spreads from the median to these quantiles, and spreads in a MAD. */
const perMad = 1.4826
const at95 = 1.645
const at99 = 2.326
/** A quantile of fewer values is one of the outliers themselves. */
const enoughFor95 = 40
const enoughFor99 = 300

export const packedHistogram = z.strictObject({
  origin: z.number(),
  from: z.int().min(0).max(cells),
  counts: z.array(z.number().min(0)).max(cells),
})
export type PackedHistogram = z.infer<typeof packedHistogram>

export interface HistogramOptions {
  /** At so many values the weight of all is halved. */
  readonly memory: number
  /** Whether something that comes again and again is usual, though most values are far from it. */
  readonly tails: boolean
}

/**
 * The median of values and their spread, without sorting: values are counted in cells, and older ones weigh less. Adding costs one
 * logarithm. The figures are read from the cells, 400 steps, once for every sixteenth part of the values that is new. 1.6 KB.
 */
export class Histogram {
  readonly #counts = new Float32Array(cells)
  readonly #options: HistogramOptions
  #origin = 0
  #total = 0
  #newSince = Number.POSITIVE_INFINITY
  #median = 0
  #spread = 0

  constructor(options: HistogramOptions) {
    this.#options = options
  }

  /** The weight of what was added. */
  get total(): number {
    return this.#total
  }

  get median(): number {
    this.#read()
    return this.#median
  }

  /**
   * The standard deviation by the middle of the values (MAD); with tails, more if the upper twentieth or the upper hundredth reaches
   * further than it would with that one.
   */
  get spread(): number {
    this.#read()
    return this.#spread
  }

  add(value: number): void {
    if (this.#total === 0) this.#origin = value
    this.#counts[cellOf(value - this.#origin)]! += 1
    this.#total += 1
    this.#newSince += 1
    if (this.#total >= this.#options.memory) this.#fade()
  }

  pack(): PackedHistogram {
    const from = Math.max(
      0,
      this.#counts.findIndex((count) => count > 0),
    )
    const to = this.#counts.findLastIndex((count) => count > 0) + 1
    return { origin: this.#origin, from, counts: Array.from(this.#counts.subarray(from, to)) }
  }

  static unpack({ origin, from, counts }: PackedHistogram, options: HistogramOptions): Histogram {
    const histogram = new Histogram(options)
    histogram.#origin = origin
    histogram.#counts.set(counts.slice(0, cells - from), from)
    histogram.#total = histogram.#counts.reduce((sum, count) => sum + count, 0)
    return histogram
  }

  #fade(): void {
    this.#total = 0
    for (let cell = 0; cell < cells; cell += 1) {
      const left = this.#counts[cell]! / 2
      this.#counts[cell] = left < 0.25 ? 0 : left
      this.#total += this.#counts[cell]!
    }
  }

  #read(): void {
    if (this.#newSince <= this.#total / 16) return
    this.#newSince = 0
    const middle = this.#cellAt(0.5)
    this.#median = this.#valueOf(middle)
    let spread = perMad * this.#deviation(middle)
    const { tails } = this.#options
    if (tails && this.#total >= enoughFor95)
      spread = Math.max(spread, (this.#valueOf(this.#cellAt(0.95)) - this.#median) / at95)
    if (tails && this.#total >= enoughFor99)
      spread = Math.max(spread, (this.#valueOf(this.#cellAt(0.99)) - this.#median) / at99)
    this.#spread = spread
  }

  #valueOf(cell: number): number {
    return this.#origin + distanceOf(cell)
  }

  #cellAt(share: number): number {
    let left = this.#total * share
    let cell = 0
    for (; cell < cells - 1; cell += 1) {
      left -= this.#counts[cell]!
      if (left <= 0) break
    }
    return cell
  }

  /** The median distance from the median: cells are taken in from the middle outward until they hold half of the values. */
  #deviation(middle: number): number {
    let held = this.#counts[middle]!
    let [low, high] = [middle - 1, middle + 1]
    let distance = 0
    while (held < this.#total / 2 && (low >= 0 || high < cells)) {
      const below = low >= 0 ? this.#median - this.#valueOf(low) : Number.POSITIVE_INFINITY
      const above = high < cells ? this.#valueOf(high) - this.#median : Number.POSITIVE_INFINITY
      distance = Math.min(below, above)
      held += below <= above ? this.#counts[low--]! : this.#counts[high++]!
    }
    return distance
  }
}

const perWidth = 1 / width
const perUnit = 1 / unit

function cellOf(distance: number): number {
  const steps = Math.min(half, Math.round(Math.log(1 + Math.abs(distance) * perUnit) * perWidth))
  return distance < 0 ? half - steps : half + steps
}

const distances = Array.from({ length: cells }, (_, cell) => {
  const steps = cell - half
  return Math.sign(steps) * unit * (Math.exp(Math.abs(steps) * width) - 1)
})

const distanceOf = (cell: number): number => distances[cell]!
