/** What is wrong with a field, for who wrote it: one that is not there is said to be missing. */
export const problemOf = ({ message }: { readonly message: string }): string =>
  message.replace(/^Invalid input: (expected .+), received undefined$/, 'it is missing: $1')
