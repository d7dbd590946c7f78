import { readFile } from 'node:fs/promises'
import { type Target, UpstreamError } from '#kernel'
import type { AccessToken } from '#provider'
import { type Options, optionsOf } from './options.ts'

const maxMs = 5000

/** The credentials that the services inside of AWS give out for a role. */
interface Given {
  readonly AccessKeyId?: unknown
  readonly SecretAccessKey?: unknown
  readonly Token?: unknown
  readonly Expiration?: unknown
}

/**
 * Keys of the role that a container or an instance was given, as one string. Rejects with an UpstreamError that another
 * try may make good.
 */
export async function roleKeys(target: Target): Promise<AccessToken<string>> {
  const options = optionsOf(target.provider)
  const given = await (hasContainer(options) ? ofContainer(options) : ofInstance(options)).catch(
    (cause: unknown) => {
      throw failure(target, 'cannot be requested', cause)
    },
  )
  const { AccessKeyId: id, SecretAccessKey: secret, Token: token, Expiration: end } = given
  const expiresAt = Date.parse(String(end))
  if (typeof id !== 'string' || typeof secret !== 'string' || Number.isNaN(expiresAt)) {
    throw failure(target, 'are none')
  }
  const parts = [id, secret, ...(typeof token === 'string' ? [token] : [])]
  return { value: parts.join(':'), expiresAt }
}

const hasContainer = ({ container_url, container_path }: Options): boolean =>
  container_url !== undefined || container_path !== undefined

/** The endpoint of a task (ECS) or a pod (EKS). */
async function ofContainer(options: Options): Promise<Given> {
  const { container_url, container_path, container_token, container_token_file: file } = options
  const token = file === undefined ? container_token : (await readFile(file, 'utf8')).trim()
  const url = container_url ?? `http://169.254.170.2${container_path}`
  return givenIn(await get(url, token === undefined ? {} : { authorization: token }))
}

/** The metadata service of an instance (EC2), in its second version. */
async function ofInstance({ metadata_url: root }: Options): Promise<Given> {
  const lifetime = { 'x-aws-ec2-metadata-token-ttl-seconds': '60' }
  const session = await (await get(`${root}/latest/api/token`, lifetime, 'PUT')).text()
  const headers = { 'x-aws-ec2-metadata-token': session }
  const roles = `${root}/latest/meta-data/iam/security-credentials/`
  const [role = ''] = (await (await get(roles, headers)).text()).split('\n')
  return givenIn(await get(roles + encodeURIComponent(role.trim()), headers))
}

/** The error of one that is no JSON would quote the keys in it. */
const givenIn = async (response: Response): Promise<Given> =>
  ((await response.json().catch(() => null)) as Given | null) ?? {}

async function get(url: string, headers: Record<string, string>, method = 'GET'): Promise<Response> {
  const signal = AbortSignal.timeout(maxMs)
  const response = await fetch(url, { method, headers, signal, redirect: 'error' })
  if (!response.ok) throw new Error(`status ${response.status}`)
  return response
}

const failure = ({ provider, model }: Target, what: string, cause?: unknown): UpstreamError =>
  new UpstreamError('provider_error', `The keys of the role for ${provider.name} ${what}.`, {
    provider: provider.name,
    model,
    fault: 'network',
    retryable: true,
    cause,
  })
