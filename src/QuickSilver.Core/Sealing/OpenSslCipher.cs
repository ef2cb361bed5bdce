using System.Runtime.InteropServices;
using System.Security.Cryptography;

namespace QuickSilver.Core.Sealing;

// By the library that AesGcm itself calls on Linux, without what AesGcm does around each of its five calls: it empties OpenSSL's list of
// errors, which takes longer than to encrypt a full packet. And a forged packet is refused without an exception.
internal sealed unsafe class OpenSslCipher : PacketCipher
{
    private readonly OpenSslLibrary _library;
    private readonly Context _handle;
    // 0 once it is disposed.
    private nint _context;

    /// <exception cref="CryptographicException">OpenSSL refuses the key, or has no memory.</exception>
    public OpenSslCipher(OpenSslLibrary library, ReadOnlySpan<byte> key)
    {
        ArgumentOutOfRangeException.ThrowIfNotEqual(key.Length, SecretKey.Bytes);
        _library = library;
        _handle = new Context(library);
        _context = _handle.DangerousGetHandle();
        fixed (byte* bytes = key)
        {
            Require(_context != 0 && library.Init(_context, library.Aes256Gcm(), bytes, null, OpenSslLibrary.Encrypts) == 1);
        }
    }

    public override void Encrypt(
        ReadOnlySpan<byte> nonce, ReadOnlySpan<byte> plain, Span<byte> into, Span<byte> tag, ReadOnlySpan<byte> header)
    {
        ArgumentOutOfRangeException.ThrowIfNotEqual(into.Length, plain.Length);
        Begin(nonce, tag, header, OpenSslLibrary.Encrypts);
        fixed (byte* from = plain, to = into, end = tag)
        {
            int written;
            Require(plain.IsEmpty || _library.Update(_context, to, &written, from, plain.Length) == 1);
            Require(_library.Final(_context, end, &written) == 1);
            Require(_library.Control(_context, OpenSslLibrary.GetTag, tag.Length, end) == 1);
        }

        GC.KeepAlive(this);
    }

    public override bool TryDecrypt(ReadOnlySpan<byte> nonce, Span<byte> body, ReadOnlySpan<byte> tag, ReadOnlySpan<byte> header)
    {
        Begin(nonce, tag, header, OpenSslLibrary.Decrypts);
        bool isGenuine;
        fixed (byte* bytes = body, end = tag)
        {
            int written;
            byte nothing;
            Require(body.IsEmpty || _library.Update(_context, bytes, &written, bytes, body.Length) == 1);
            Require(_library.Control(_context, OpenSslLibrary.SetTag, tag.Length, end) == 1);
            isGenuine = _library.Final(_context, &nothing, &written) == 1;
        }

        if (!isGenuine)
        {
            body.Clear();
            _library.ClearErrors();
        }

        GC.KeepAlive(this);
        return isGenuine;
    }

    public override void Dispose()
    {
        _context = 0;
        _handle.Dispose();
    }

    private void Begin(ReadOnlySpan<byte> nonce, ReadOnlySpan<byte> tag, ReadOnlySpan<byte> header, int direction)
    {
        ObjectDisposedException.ThrowIf(_context == 0, this);
        ArgumentOutOfRangeException.ThrowIfNotEqual(nonce.Length, NonceBytes);
        ArgumentOutOfRangeException.ThrowIfNotEqual(tag.Length, SealedPacket.TagBytes);
        fixed (byte* number = nonce, first = header)
        {
            int written;
            Require(_library.Init(_context, 0, null, number, direction) == 1);
            Require(header.IsEmpty || _library.Update(_context, null, &written, first, header.Length) == 1);
        }
    }

    private void Require(bool holds)
    {
        if (!holds)
        {
            _library.ClearErrors();
            throw new CryptographicException("OpenSSL did not encrypt or decrypt a packet, although its key and its sizes are valid.");
        }
    }

    // Frees what belongs to a cipher that was not disposed.
    private sealed class Context : SafeHandle
    {
        private readonly OpenSslLibrary _library;

        public Context(OpenSslLibrary library)
            : base(0, ownsHandle: true)
        {
            _library = library;
            SetHandle(library.NewContext());
        }

        public override bool IsInvalid => handle == 0;

        protected override bool ReleaseHandle()
        {
            _library.FreeContext(handle);
            return true;
        }
    }
}
