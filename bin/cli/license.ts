import { generateKeyPairSync } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { newId, tiers } from '#kernel'
import { stateOf } from '../../plugins/plans/license.ts'
import { issueLicense, readLicense } from '../../plugins/plans/license-token.ts'
import { configuration } from './configuration.ts'

/** Data and usage errors of sysexits. */
const badData = 65
const badUsage = 64
const daySeconds = 86_400

export interface IssueOptions {
  readonly key: string
  readonly to: string
  readonly tier: string
  readonly days?: string
  readonly requests?: string
  readonly users?: string
  readonly json?: boolean
}

/** Makes the key pair that licenses are signed with. The file of the private key is never overwritten. */
export async function licenseKeys(file: string, { json }: { readonly json?: boolean }): Promise<void> {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  try {
    await writeFile(file, pem, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    fail(`The key cannot be written to ${file}: ${(error as Error).message}`, json, badUsage)
    return
  }
  const shown = publicKey.export({ type: 'spki', format: 'der' }).toString('base64')
  if (json) console.log(JSON.stringify({ file, public_key: shown }, null, 2))
  else {
    console.log(`The private key is in ${file}: whoever has it can issue licenses.`)
    console.log(`Gateways verify licenses with this in service.yaml:\n\nlicense: { public_key: ${shown} }`)
  }
}

/** Prints a license token. */
export async function issue(options: IssueOptions): Promise<void> {
  const { json } = options
  const tier = tiers.find((one) => one === options.tier)
  if (!tier) return fail(`--tier is one of ${tiers.join(', ')}.`, json, badUsage)
  const [days, requests, users] = [options.days, options.requests, options.users].map(whole)
  if ([days, requests, users].some(Number.isNaN))
    return fail('--days, --requests and --users are whole numbers.', json, badUsage)
  const iat = Math.floor(Date.now() / 1000)
  const license = {
    jti: newId('lic_'),
    sub: options.to,
    tier,
    limits: {
      ...(requests !== undefined && { requests_per_month: requests }),
      ...(users !== undefined && { users }),
    },
    iat,
    ...(days !== undefined && { exp: iat + days * daySeconds }),
  }
  try {
    const token = await issueLicense(license, await readFile(options.key, 'utf8'))
    console.log(json ? JSON.stringify({ ...license, token }, null, 2) : token)
  } catch (error) {
    fail(`The license cannot be signed with ${options.key}: ${(error as Error).message}`, json, badData)
  }
}

/** Says what a token, or the configured one, grants: exit code 65 when it is not valid. */
export async function check(
  token: string | undefined,
  { publicKey, json }: { readonly publicKey?: string; readonly json?: boolean },
): Promise<void> {
  const configured = token === undefined || publicKey === undefined ? configuration()?.license : undefined
  const given = token ?? configured?.key
  if (given === undefined)
    return fail('There is no license key: give one, or set SERVICE_LICENSE_KEY.', json, badUsage)
  const state = await readLicense(given, publicKey ?? configured?.publicKey)
  const now = state.license ? stateOf(state.license, new Date()) : state
  if (now.status !== 'active') return fail(now.reason, json, badData)
  const { sub, tier, limits, exp } = now.license!
  const expires = exp === undefined ? null : new Date(exp * 1000).toISOString()
  if (json)
    console.log(
      JSON.stringify({ status: now.status, licensee: sub, tier, limits, expires_at: expires }, null, 2),
    )
  else console.log(`Valid: ${tier} for ${sub}, ${expires === null ? 'without an end' : `until ${expires}`}.`)
}

/** The number of an option; NaN for one that is none. */
function whole(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  return /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
}

function fail(problem: string, json: boolean | undefined, code: number): void {
  if (json) console.log(JSON.stringify({ status: 'failed', problem }, null, 2))
  else console.error(problem)
  process.exitCode = code
}
