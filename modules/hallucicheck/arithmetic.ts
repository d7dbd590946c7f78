import type { Quantity, Reading } from './quantities.ts'

/** Numbers of what was given that are reckoned with: more could make up almost any number. */
const mostGiven = 60

/** Whether a number is what it is said to be, but for rounding. */
export const isAbout = ({ value, within }: Reading, exact: number): boolean =>
  Math.abs(value - exact) <= within * (1 + 1e-9) + Math.abs(exact) * 1e-12

/** Whether a number can be reckoned from given ones: as a sum of neighbours, a difference of two, or a share or change in per cent. */
export function isReckoned({ readings, unit }: Quantity, given: readonly Quantity[]): boolean {
  const isAny = (reckoned: number): boolean => readings.some((reading) => isAbout(reading, reckoned))
  const bases = given.slice(0, mostGiven).map((one) => ({ value: one.readings[0]!.value, unit: one.unit }))
  const alike = bases.filter((one) => one.unit === unit || one.unit === undefined).map(({ value }) => value)
  if (unit === '%' && shares(bases).some(isAny)) return true
  for (const [at, first] of alike.entries()) {
    let sum = first
    for (const next of alike.slice(at + 1)) {
      sum += next
      if (isAny(sum) || isAny(first + next) || isAny(Math.abs(first - next))) return true
    }
  }
  return false
}

/** What each number is of each other of its unit, in per cent, and by how much it differs. */
function shares(given: readonly { readonly value: number; readonly unit: string | undefined }[]): number[] {
  return given.flatMap((whole) =>
    whole.value === 0
      ? []
      : given
          .filter((part) => part !== whole && part.unit === whole.unit)
          .flatMap(({ value }) => {
            const share = (value / whole.value) * 100
            return [share, Math.abs(share - 100)]
          }),
  )
}
