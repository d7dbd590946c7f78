const ownHost = 'https://aiplatform.googleapis.com'

/** What a call of a project's models begins with; without a project, what an API key alone opens. */
export function addressOf(baseUrl: string, project: string | undefined, location: string): string {
  const root = baseUrl.startsWith(`${ownHost}/`) ? hostOf(location) + baseUrl.slice(ownHost.length) : baseUrl
  if (project === undefined) return root
  return `${root}/projects/${encodeURIComponent(project)}/locations/${encodeURIComponent(location)}`
}

/** Each region has a host of its own; so have the whole of the EU and of the US. */
function hostOf(location: string): string {
  if (location === 'global') return ownHost
  if (location === 'eu' || location === 'us') return `https://aiplatform.${location}.rep.googleapis.com`
  return `https://${encodeURIComponent(location)}-aiplatform.googleapis.com`
}
