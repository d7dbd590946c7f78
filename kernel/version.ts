import { readFileSync } from 'node:fs'

/** The package's version, from the nearest package.json above this file. */
export function packageVersion(): string {
  for (const up of ['../package.json', '../../package.json']) {
    try {
      const { name, version } = JSON.parse(readFileSync(new URL(up, import.meta.url), 'utf8')) as Record<
        string,
        string
      >
      if (name === 'switchyard' && version) return version
    } catch {
      // Built files lie one folder deeper: the next place is tried.
    }
  }
  return '0.0.0'
}
