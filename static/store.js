// What a reader chose is kept in this browser; where storage is turned off, it lasts as long as the page.
export function read(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

export function write(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // As said above.
  }
}
