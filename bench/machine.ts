import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import os from 'node:os'
import { canPin, LOAD_CORE, SERVER_CORE } from './process.ts'

/** What the figures depend on beside the code. */
export function describeMachine(): Record<string, string> {
  const cpus = os.cpus()
  return {
    cpu: `${cpus.length} × ${cpus[0]?.model.trim() ?? 'unknown'}${hypervisor()}`,
    memory: `${Math.round(os.totalmem() / 2 ** 30)} GB`,
    system: `${os.type()} ${os.release()}`,
    node: process.version,
    cores: canPin()
      ? `server on core ${SERVER_CORE}, load and upstream on core ${LOAD_CORE}`
      : 'not bound to cores: figures of CPU hold, those of throughput and latency vary',
    code: revision(),
    load_average_at_start: (os.loadavg()[0] ?? 0).toFixed(2),
    date: new Date().toISOString().slice(0, 10),
  }
}

function hypervisor(): string {
  try {
    return / hypervisor( |$)/m.test(readFileSync('/proc/cpuinfo', 'utf8')) ? ' (virtual machine)' : ''
  } catch {
    return ''
  }
}

/** The commit that was measured, and whether files differed from it. */
function revision(): string {
  const git = (...args: string[]) =>
    execFileSync('git', args, {
      cwd: import.meta.dirname,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  try {
    const changed = git('status', '--porcelain', '..', ':!results.md').trim() !== ''
    return (
      git('rev-parse', '--short', 'HEAD').trim() + (changed ? ', with changes that are not committed' : '')
    )
  } catch {
    return 'not in a repository'
  }
}
