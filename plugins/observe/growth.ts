/**
 * How many bytes longer the second of two JSON values is, negative where it is shorter. Parts that are the same are not
 * written as JSON, so that a changed copy costs as much as was changed.
 */
export function growth(before: unknown, after: unknown): number {
  if (before === after) return 0
  if (Array.isArray(before) && Array.isArray(after)) return growthOfList(before, after)
  if (isRecord(before) && isRecord(after)) return growthOfRecord(before, after)
  return bytesOf(after) - bytesOf(before)
}

/** Items that both begin or end with are left out; for those between them it does not matter which of them is compared with which. */
function growthOfList(before: readonly unknown[], after: readonly unknown[]): number {
  const shorter = Math.min(before.length, after.length)
  let same = 0
  while (same < shorter && before[same] === after[same]) same += 1
  let atEnd = 0
  while (atEnd < shorter - same && before.at(-1 - atEnd) === after.at(-1 - atEnd)) atEnd += 1
  const [old, made] = [before, after].map((list) => list.slice(same, list.length - atEnd))
  let sum = commas(after.length) - commas(before.length)
  for (let i = 0; i < Math.max(old!.length, made!.length); i += 1)
    sum += growth(i < old!.length ? itemOf(old![i]) : nothing, i < made!.length ? itemOf(made![i]) : nothing)
  return sum
}

function growthOfRecord(before: Record<string, unknown>, after: Record<string, unknown>): number {
  const [old, made] = [before, after].map((record) =>
    Object.keys(record).filter((name) => record[name] !== undefined),
  )
  let sum = commas(made!.length) - commas(old!.length)
  for (const name of new Set([...old!, ...made!])) {
    const [was, is] = [before, after].map((record) =>
      Object.hasOwn(record, name) ? record[name] : undefined,
    )
    if (was === undefined) sum += bytesOf(name) + 1
    if (is === undefined) sum -= bytesOf(name) + 1
    sum += growth(was, is)
  }
  return sum
}

/** What takes no byte: a field that JSON has not. */
const nothing = undefined

const bytesOf = (value: unknown): number => {
  const json = JSON.stringify(value) as string | undefined
  return json === undefined ? 0 : Buffer.byteLength(json)
}

/** JSON has null where a list has nothing. */
const itemOf = (value: unknown): unknown => value ?? null

const commas = (count: number): number => Math.max(0, count - 1)

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
