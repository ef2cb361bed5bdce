namespace QuickSilver.Core.Sealing;

// AES-256-GCM under one key. Not safe for use by two threads at a time.
internal abstract class PacketCipher : IDisposable
{
    public const int NonceBytes = 12;

    /// <summary>The fastest there is on this machine: all compute the same.</summary>
    public static PacketCipher Create(ReadOnlySpan<byte> key) =>
        OpenSslLibrary.Instance is { } library ? new OpenSslCipher(library, key) : new PlatformCipher(key);

    /// <param name="nonce">Never used before under this key.</param>
    /// <param name="plain">The bytes to encrypt.</param>
    /// <param name="into">Of the same length. Does not overlap them, unless it is the same.</param>
    /// <param name="tag">Gets the tag.</param>
    /// <param name="header">What the tag covers besides.</param>
    public abstract void Encrypt(
        ReadOnlySpan<byte> nonce, ReadOnlySpan<byte> plain, Span<byte> into, Span<byte> tag, ReadOnlySpan<byte> header);

    /// <summary>Decrypts the body where it lies. False: the tag is not of these bytes, and the body is cleared.</summary>
    public abstract bool TryDecrypt(ReadOnlySpan<byte> nonce, Span<byte> body, ReadOnlySpan<byte> tag, ReadOnlySpan<byte> header);

    public abstract void Dispose();
}
