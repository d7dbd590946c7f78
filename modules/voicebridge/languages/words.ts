/** How a language speaks what is written in signs. */
export interface Words {
  /** In place of a block of code. */
  readonly code: string
  /** What groups the digits of a number, and what stands before its decimals. */
  readonly group: string
  readonly decimal: string
  readonly point: string
  readonly minus: string
  readonly to: string
  cardinal(value: number): string
  /** A number of four digits that is not counted. */
  year(value: number): string
  /** A time of day. */
  time(hour: number, minute: number): string
  date(year: number, month: number, day: number): string
  /** Units with one and with several: `one kilometer`, `kilometers`. */
  readonly units: Readonly<Record<string, readonly [one: string, many: string]>>
  /** Money: one, several, and the word between them and the hundredths, with those. */
  readonly money: Readonly<
    Record<string, readonly [one: string, many: string, rest: (hundredths: string) => string]>
  >
  /** Words such as million, which stand between a number and its currency. */
  readonly scales: readonly string[]
  /** Replaced in this order, before numbers are. */
  readonly abbreviations: readonly (readonly [RegExp, string | ((...match: string[]) => string)])[]
  /** Replaced in this order, after numbers are. */
  readonly symbols: readonly (readonly [RegExp, string])[]
}
