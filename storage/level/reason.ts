/** What the disk or LevelDB says of an error, without the paths it names. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.cause instanceof Error) return reasonOf(error.cause)
  const isOfNode = 'syscall' in error
  const said = isOfNode ? error.message.slice(error.message.indexOf(': ') + 2) : error.message
  const [words = ''] = isOfNode ? said.split(', ') : [said.slice(said.lastIndexOf(': ') + 1).trim()]
  return words.charAt(0).toUpperCase() + words.slice(1)
}
