export function bundleOf(root: string): string | undefined
export function lastChange(root: string): number
