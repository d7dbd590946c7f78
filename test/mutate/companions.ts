/** Tests that stand elsewhere than what they test, by the folder or file. */
export const companions: readonly (readonly [string, readonly string[]])[] = []

/** Files in the folders of the code that are only for tests. */
export const notCode: readonly RegExp[] = [/-child\.ts$/, /-parts\.ts$/, /^storage\/conformance/]
