using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Security.Cryptography;
using System.Text;

namespace QuickSilver.Core.Security.Identities;

// What the processes of a cluster share: at least 256 random bits, and a name, which is the identity of a process that proves to have them.
// As text: quicksilver-secret:NAME:BASE64. Nothing of it but the name is ever shown.
internal sealed class Secret
{
    public const int LeastKeyBytes = 32;
    public const int MostKeyBytes = 256;
    public const int MostNameCharacters = 64;
    public const string Form = "quicksilver-secret:NAME:BASE64";
    private const string Prefix = "quicksilver-secret";
    private const char Separator = ':';

    private readonly byte[] _key;

    private Secret(string name, byte[] key)
    {
        Name = name;
        _key = key;
        Fingerprint = Convert.ToHexStringLower(Derive("fingerprint", 8));
    }

    public string Name { get; }

    /// <summary>Distinguishes secrets, without revealing them.</summary>
    public string Fingerprint { get; }

    public static Secret Of(string name, ReadOnlySpan<byte> key) =>
        FaultOf(name) is { } fault ? throw new ArgumentException(fault, nameof(name))
        : key.Length is < LeastKeyBytes or > MostKeyBytes
            ? throw new ArgumentException($"A secret has {LeastKeyBytes} to {MostKeyBytes} bytes.", nameof(key))
        : new Secret(name, key.ToArray());

    /// <summary>Whether the text seems to be a secret, where something else is expected.</summary>
    public static bool IsLike(string text) => text.TrimStart().StartsWith(Prefix + Separator, StringComparison.Ordinal);

    /// <summary>The text without the keys of secrets in it: a user may have given one where something else is expected.</summary>
    public static string Hide(string text)
    {
        int from = 0;
        while ((from = text.IndexOf(Prefix + Separator, from, StringComparison.Ordinal)) >= 0)
        {
            int key = text.IndexOf(Separator, from + Prefix.Length + 1) + 1;
            from += Prefix.Length;
            if (key > 0 && !text.AsSpan(key).StartsWith("BASE64"))
            {
                int length = text.AsSpan(key).IndexOfAny(" \t\r\n\",;");
                text = string.Concat(text.AsSpan(0, key), "…", length < 0 ? "" : text.AsSpan(key + length));
            }
        }

        return text;
    }

    /// <summary>False with what is wrong with the text, as a sentence that shows nothing of it.</summary>
    public static bool TryParse(string text, [NotNullWhen(true)] out Secret? secret, [NotNullWhen(false)] out string? fault)
    {
        secret = null;
        string[] parts = text.Trim().Split(Separator);
        if (parts.Length != 3 || parts[0] != Prefix)
        {
            fault = $"It does not have the form {Form}.";
            return false;
        }

        fault = FaultOf(parts[1]);
        if (fault is not null)
        {
            return false;
        }

        byte[] key = new byte[MostKeyBytes];
        bool isBase64 = Convert.TryFromBase64String(parts[2], key, out int length);
        if (isBase64 && length >= LeastKeyBytes)
        {
            secret = new Secret(parts[1], key[..length]);
        }
        else
        {
            fault = isBase64
                ? string.Create(CultureInfo.InvariantCulture, $"Its key has {length} bytes, and at least {LeastKeyBytes} are required.")
                : $"Its key is not base64, or has more than {MostKeyBytes} bytes.";
        }

        CryptographicOperations.ZeroMemory(key);
        return secret is not null;
    }

    /// <summary>What a name must be; null if it is.</summary>
    public static string? FaultOf(string name) =>
        name.Length is >= 1 and <= MostNameCharacters && name.All(static c => char.IsAsciiLetterOrDigit(c) || c is '-' or '_' or '.')
            ? null
            : $"A name has 1 to {MostNameCharacters} ASCII letters, digits, hyphens, underscores and full stops.";

    /// <summary>The text of the secret, for a file that only the process reads.</summary>
    public string Reveal() => $"{Prefix}{Separator}{Name}{Separator}{Convert.ToBase64String(_key)}";

    /// <summary>A key for one purpose. Keys for different purposes reveal nothing of each other, or of the secret.</summary>
    public byte[] Derive(string purpose, int bytes) => HKDF.DeriveKey(
        HashAlgorithmName.SHA256, _key, bytes, "quicksilver secret v1"u8.ToArray(), Encoding.UTF8.GetBytes(purpose));

    public override string ToString() => $"secret {Name} ({Fingerprint})";
}
