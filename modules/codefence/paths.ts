import type { Severity } from './danger.ts'

const root = /^(?:\/|~|\$\{?HOME\}?|\$\{?USERPROFILE\}?|%USERPROFILE%|[a-z]:|\.\.?|\*)?[\\/]*\*?$/i
const system =
  /^\/(?:bin|boot|dev|etc|home|lib(?:32|64)?|opt|root|sbin|srv|sys|usr|var|Users|System|Library|Applications)(?:\/\*?)?$/i
const temporary = /^\/(?:tmp|var\/tmp|private\/tmp)\/[^*/.]/

/**
 * How bad it is to delete a path with all that is below it; undefined for what a program makes for itself: relative folders and
 * temporary ones.
 */
export function deletionOf(path: string): Severity | undefined {
  const plain = path.replace(/["']/g, '')
  if (plain === '') return undefined
  if (root.test(plain) || system.test(plain)) return 'high'
  if (temporary.test(plain)) return undefined
  // With an empty variable, `$dir/*` is everything.
  if (/^\$\{?\w+\}?\/\*?$/.test(plain)) return 'high'
  return /^(?:\/|~|[a-z]:[\\/]|\.\.[\\/])/i.test(plain) ? 'medium' : undefined
}

const kept = [
  String.raw`(?:^|[\\/~])\.ssh[\\/](?!(?:known_hosts|config|authorized_keys)\b|[^'"\s]*\.pub\b)[\w.*-]+`,
  String.raw`(?:^|[\\/])id_(?:rsa|ed25519|ecdsa|dsa)(?!\.pub)\b`,
  String.raw`(?:^|[\\/~])\.aws[\\/]credentials`,
  String.raw`(?:^|[\\/~])\.(?:netrc|pgpass|git-credentials|pypirc|my\.cnf)\b`,
  String.raw`(?:^|[\\/~])\.docker[\\/]config\.json`,
  String.raw`(?:^|[\\/~])\.kube[\\/]config\b`,
  String.raw`(?:^|[\\/~])\.gnupg[\\/]`,
  String.raw`gcloud[\\/](?:credentials\.db|application_default_credentials\.json)`,
  String.raw`^\/etc\/(?:shadow|gshadow|sudoers)\b`,
  String.raw`^\/proc\/(?:self|\d+)\/environ\b`,
  String.raw`(?:Chrome|Chromium|Edge|Brave)[^'"]*[\\/]Login Data`,
  String.raw`(?:^|\/)(?:logins\.json|key4\.db)$`,
  String.raw`\/var\/run\/secrets\/kubernetes\.io`,
]
const secret = new RegExp(kept.join('|'), 'i')

/** Whether a path or an address is a place where credentials are kept. */
export const keepsCredentials = (path: string): boolean => secret.test(path)

/** Whether an address is that of a cloud's metadata service, which gives out keys of the machine. */
export const isMetadataAddress = (address: string): boolean =>
  /169\.254\.169\.254|metadata\.google\.internal/.test(address)
