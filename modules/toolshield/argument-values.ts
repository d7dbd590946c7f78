import path from 'node:path'

/** What a single value of an argument must be. True for a value that is so. */
export type ValueTest = (value: string) => boolean

/** Characters that mean something to a shell. */
const shell = /[|&;<>()$`\\"'\n\r\0*?[\]{}!~#]/

export const isPlain: ValueTest = (value) => !shell.test(value)

/**
 * Whether a value is a path inside one of these folders. A relative path counts as inside the folder `.` while it does not climb
 * out of it. A path that could be read in another way is in no folder: one with a scheme, a drive, a home, control characters,
 * spaces around it, or `%`.
 */
export function insideOf(folders: readonly string[]): ValueTest {
  const roots = folders.map((folder) => path.posix.normalize(`${folder}/`))
  return (value) => {
    const plain = value.replaceAll('\\', '/')
    if (plain !== plain.trim() || /^$|^~|^[a-z][\w+.-]*:|^\/\/|%/i.test(plain)) return false
    if ([...plain].some((character) => character < ' ')) return false
    const clean = `${path.posix.normalize(plain)}/`
    const climbs = clean.startsWith('../')
    return roots.some((root) =>
      root === './' ? !climbs && !clean.startsWith('/') : path.posix.normalize(clean).startsWith(root),
    )
  }
}

/** Whether a value is a web address, or a host with or without a port, whose host is one of these; it may be an IP address. */
export function onHosts(isAllowed: (host: string) => boolean): ValueTest {
  return (value) => {
    const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`
    if (/\s/.test(text) || !URL.canParse(text)) return false
    const { protocol, hostname } = new URL(text)
    return /^(?:https?|wss?|ftp):$/.test(protocol) && isAllowed(hostname.replace(/\.$/, ''))
  }
}
