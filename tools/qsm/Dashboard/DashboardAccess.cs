using System.Net;
using System.Security.Cryptography;
using System.Text;

namespace QuickSilver.Tool.Dashboard;

// Rights to open the page. A browser asks for a page under the name that its user typed, or that a page of an attacker gave it: names that
// are not of this dashboard are refused, so that a name whose address has been changed to that of this machine opens nothing. Beyond the
// loopback interface, a user needs the token as well.
internal sealed class DashboardAccess
{
    /// <summary>The environment variable with a token.</summary>
    public const string TokenVariable = "QSM_DASHBOARD_TOKEN";

    /// <summary>Fewer characters can be guessed.</summary>
    public const int LeastTokenCharacters = 16;

    private const int DrawnBytes = 24;

    private readonly bool _isLoopback;
    private readonly HashSet<string> _names;
    private readonly byte[]? _tokenHash;
    private readonly byte[]? _sessionHash;

    /// <param name="listen">The address to listen on.</param>
    /// <param name="token">What a user must know; null: nothing, which is allowed on the loopback interface only.</param>
    /// <param name="names">The names that are accepted besides addresses and localhost.</param>
    public DashboardAccess(IPAddress listen, string? token, IEnumerable<string> names)
    {
        _isLoopback = IPAddress.IsLoopback(listen);
        if (token is null && !_isLoopback)
        {
            throw new ArgumentException($"Without a token, the dashboard listens on the loopback interface only, and not on {listen}.");
        }

        _names = new HashSet<string>(names.Append("localhost"), StringComparer.OrdinalIgnoreCase);
        if (token is not null)
        {
            _tokenHash = SHA256.HashData(Encoding.UTF8.GetBytes(token));
            Session = Convert.ToHexStringLower(HMACSHA256.HashData(Encoding.UTF8.GetBytes(token), "qsm dashboard session"u8));
            _sessionHash = SHA256.HashData(Encoding.UTF8.GetBytes(Session));
        }
    }

    public bool NeedsToken => _tokenHash is not null;

    /// <summary>
    /// What the cookie of a browser that has shown the token contains: it does not reveal the token. Null without a token.
    /// </summary>
    public string? Session { get; }

    /// <summary>A token that cannot be guessed.</summary>
    public static string DrawToken() => Convert.ToHexStringLower(RandomNumberGenerator.GetBytes(DrawnBytes));

    /// <summary>What is wrong with a token that a user chose; null if nothing is. The token itself is not named.</summary>
    public static string? Fault(string token) =>
        token.Length < LeastTokenCharacters ? $"it has {token.Length} characters, and at least {LeastTokenCharacters} are needed"
        : token.Any(static c => c is <= ' ' or > '~') ? "it contains spaces, or characters that are not ASCII"
        : null;

    /// <param name="host">The host of a request, without its port: the port of a tunnel may be any.</param>
    public bool AllowsHost(string host)
    {
        if (_names.Contains(host))
        {
            return true;
        }

        // No DNS server can change an address.
        return IPAddress.TryParse(host.Trim('[', ']'), out var address) && (!_isLoopback || IPAddress.IsLoopback(address));
    }

    public bool IsToken(string? given) => Is(_tokenHash, given);

    public bool IsSession(string? given) => Is(_sessionHash, given);

    // The hashes have one length whatever is given, and the comparison takes one time.
    private static bool Is(byte[]? expected, string? given) => expected is not null && given is not null
        && CryptographicOperations.FixedTimeEquals(expected, SHA256.HashData(Encoding.UTF8.GetBytes(given)));
}
