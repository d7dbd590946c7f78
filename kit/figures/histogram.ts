/** Buckets grow by the sixteenth root of two, so that their middle is off by 2.2 % at the most. */
const steps = 16

/** A smaller value counts as nothing. */
const least = 1e-9
const nothing = Number.NEGATIVE_INFINITY

/** The bucket of a value of a histogram: number i holds those over `2^((i-1)/16)` up to `2^(i/16)`. */
export const bucketOf = (value: number): number =>
  value < least ? nothing : Math.ceil(Math.log2(value) * steps)

/** The middle of a bucket of a histogram. */
export const middleOf = (bucket: number): number => (bucket === nothing ? 0 : 2 ** ((bucket - 0.5) / steps))
