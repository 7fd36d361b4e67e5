/** The beginning of a text that fits in so many bytes of UTF-8, without half a character. */
export function cutText(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  const bytes = Buffer.from(text).subarray(0, maxBytes);
  let end = bytes.length;
  // A byte of the form 10xxxxxx continues a character.
  while (end > 0 && ((Buffer.from(text)[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}
