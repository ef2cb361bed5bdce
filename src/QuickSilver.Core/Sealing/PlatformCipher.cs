using System.Security.Cryptography;

namespace QuickSilver.Core.Sealing;

// By the framework's own class, wherever OpenSslCipher cannot be used.
internal sealed class PlatformCipher(ReadOnlySpan<byte> key) : PacketCipher
{
    private readonly AesGcm _cipher = new(key, SealedPacket.TagBytes);

    public override void Encrypt(
        ReadOnlySpan<byte> nonce, ReadOnlySpan<byte> plain, Span<byte> into, Span<byte> tag, ReadOnlySpan<byte> header) =>
        _cipher.Encrypt(nonce, plain, into, tag, header);

    public override bool TryDecrypt(ReadOnlySpan<byte> nonce, Span<byte> body, ReadOnlySpan<byte> tag, ReadOnlySpan<byte> header)
    {
        try
        {
            _cipher.Decrypt(nonce, body, tag, body, header);
            return true;
        }
        catch (AuthenticationTagMismatchException)
        {
            return false;
        }
    }

    public override void Dispose() => _cipher.Dispose();
}
