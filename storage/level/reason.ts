import path from 'node:path'

/** What the disk or LevelDB says of an error, without the paths it names. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.cause instanceof Error) return reasonOf(error.cause)
  const said = 'syscall' in error ? ofNode(error.message) : ofLevel(error.message)
  return said.charAt(0).toUpperCase() + said.slice(1)
}

/** As `ENOENT: no such file or directory, open '/a/b'`. */
const ofNode = (message: string): string => message.slice(message.indexOf(': ') + 2).split(', ')[0]!

/** As `IO error: /a/000004.log: No space left on device`, or `Corruption: 1 missing files; e.g.: /a/000005.ldb`. */
const ofLevel = (message: string): string => {
  const words = message.split(': ').filter((part) => !path.isAbsolute(part))
  return (words.length > 1 ? words.slice(1) : words).join(': ').replace(/; e\.g\.$/, '')
}
