using System.Globalization;
using System.Text.RegularExpressions;

namespace QuickSilver.Campaign.Contenders;

// `openssl speed` of AES-256-GCM, on data as long as what is encrypted of a full packet.
internal sealed partial class OpenSslContender : IContender
{
    // A packet of 1,472 bytes without its header and trailer.
    private const int Bytes = 1372;

    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);

    public string Name => "openssl speed";

    public bool IsOwn => false;

    public string Command(Load load, int seconds) =>
        $"openssl {string.Join(' ', Arguments(seconds, "-aead"))}\n    openssl {string.Join(' ', Arguments(seconds))}";

    public Measurement Run(Load load, int seconds)
    {
        double packet = Nanos(Arguments(seconds, "-aead"));
        double stream = Nanos(Arguments(seconds));
        return double.IsNaN(packet + stream)
            ? Measurement.Failed("openssl said nothing that can be read")
            : new Measurement { CipherNanos = packet, StreamNanos = stream };
    }

    private static string[] Arguments(int seconds, params string[] options) =>
    [
        "speed", .. options, "-evp", "aes-256-gcm", "-bytes", Bytes.ToString(CultureInfo.InvariantCulture),
        "-seconds", Math.Max(1, seconds / 2).ToString(CultureInfo.InvariantCulture),
    ];

    private static double Nanos(string[] arguments)
    {
        using var shell = new Shell("openssl", arguments);
        var match = Speed().Match(shell.Wait(Limit).Output);
        return match.Success ? Bytes / double.Parse(match.Groups[1].Value, CultureInfo.InvariantCulture) * 1e6 : double.NaN;
    }

    [GeneratedRegex(@"AES-256-GCM\s+([0-9.]+)k")]
    private static partial Regex Speed();
}
