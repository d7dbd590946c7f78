/** Cuts a text into its tokens, which are deltas of a stream too: up to six letters with the blanks before them. */
export function tokenize(text: string): string[] {
  return text.match(/\s*\S{1,6}|\s+$/gu) ?? []
}

/** How many tokens any value is: a text by its tokens, the rest by those of its JSON. */
export function countTokens(value: unknown): number {
  if (value === undefined || value === null) return 0
  return tokenize(typeof value === 'string' ? value : JSON.stringify(value)).length
}
