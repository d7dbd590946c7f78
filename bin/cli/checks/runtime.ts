import semver from 'semver'
import { runtimeRange } from '../../../gateway/version.ts'
import { type Check, failed, ok } from './result.ts'

/** Whether this Node is one that the gateway runs on. */
export function checkRuntime(): Check {
  const { node } = process.versions
  const range = runtimeRange()
  if (semver.satisfies(node, range)) return ok('runtime', `Node ${node}`)
  return failed('runtime', `The gateway needs Node ${range}, and this is ${node}.`)
}
