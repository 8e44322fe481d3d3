const LONGEST = 200

/** A job's name from free words: small letters, digits and hyphens. While typing, a last hyphen stays. */
export function slugOf(words: string, finished = true): string {
  const slug = words
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, LONGEST)
  return finished ? slug.replace(/-+$/, '') : slug
}
