import { type Target, UpstreamError } from '#kernel'
import type { AccessToken } from '#provider'
import { credentialOf, keyFault } from './credential.ts'
import type { AwsIdentity } from './identity.ts'
import { type Options, optionsOf } from './options.ts'
import { roleKeys } from './role.ts'

/** Keys as AWS's own library hands them about. */
interface Keys {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
  readonly expiration?: Date
}

/** How long keys without a stated end are kept: their file may have changed. */
const usualMs = 15 * 60_000

/**
 * The keys to sign with, as one string: those of an identity, or the target's own, and with `assume_role` those of the
 * role that they may be. Rejects with an UpstreamError, retryable unless AWS or its files said no.
 */
export async function keysFor(
  identity: AwsIdentity | undefined,
  target: Target,
): Promise<AccessToken<string>> {
  const options = optionsOf(target.provider)
  if (identity?.kind === 'machine' && !options.assume_role) return roleKeys(target)
  try {
    const { accessKeyId, secretAccessKey, sessionToken, expiration } = await given(identity, options, target)
    const parts = [accessKeyId, secretAccessKey, ...(sessionToken === undefined ? [] : [sessionToken])]
    return { value: parts.join(':'), expiresAt: expiration?.getTime() ?? Date.now() + usualMs }
  } catch (cause) {
    if (cause instanceof UpstreamError) throw cause
    throw cause instanceof RangeError ? keyFault(cause, target) : failure(cause, target)
  }
}

async function given(identity: AwsIdentity | undefined, options: Options, target: Target): Promise<Keys> {
  // Loaded at first use: most installations never need it.
  const { fromIni, fromTemporaryCredentials, fromTokenFile } = await import('@aws-sdk/credential-providers')
  const { assume_role: role, region = 'us-east-1', sts_url: endpoint } = options
  const clientConfig = { region, ...(endpoint !== undefined && { endpoint }), maxAttempts: 2 }
  const own = async (): Promise<Keys> => {
    if (!identity) return heldKeys(target.key!.secret)
    if (identity.kind === 'machine') return heldKeys((await roleKeys(target)).value)
    if (identity.kind === 'profile') {
      // Its files say where single sign-on is, and may say where all else is.
      return fromIni({ profile: identity.name, ignoreCache: true, parentClientConfig: { region } })()
    }
    const session = role?.session_name ?? 'switchyard'
    const { role: roleArn, file: webIdentityTokenFile } = identity
    return fromTokenFile({ roleArn, webIdentityTokenFile, roleSessionName: session, clientConfig })()
  }
  if (!role) return own()
  const params = {
    RoleArn: role.arn,
    RoleSessionName: role.session_name,
    DurationSeconds: role.duration_s,
    ...(role.external_id !== undefined && { ExternalId: role.external_id }),
  }
  return fromTemporaryCredentials({ params, masterCredentials: own, clientConfig })()
}

function heldKeys(secret: string): Keys {
  const held = credentialOf(secret)
  if (held.kind === 'bearer') throw new RangeError('an API key of Bedrock cannot assume a role')
  const { accessKeyId, secretAccessKey, sessionToken } = held
  return { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) }
}

/** The failure by AWS's name for it: AWS's messages may quote the credentials. */
function failure(cause: unknown, { provider, model }: Target): UpstreamError {
  const { name = 'Error', $metadata } = cause as { name?: string; $metadata?: { httpStatusCode?: number } }
  const status = $metadata?.httpStatusCode
  const refuses =
    status === undefined
      ? name === 'CredentialsProviderError'
      : status >= 400 && status < 500 && status !== 429
  const said = `The keys that ${provider.name} is to use cannot be had (${name}).`
  return new UpstreamError('provider_error', said, {
    provider: provider.name,
    model,
    fault: status === undefined && !refuses ? 'network' : 'status',
    retryable: !refuses,
    ...(refuses ? { providerStatus: 401 } : status !== undefined && { providerStatus: status }),
    native: name,
    cause,
  })
}
