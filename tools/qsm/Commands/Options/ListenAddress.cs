using System.CommandLine;
using System.CommandLine.Parsing;
using System.Globalization;
using System.Net;
using System.Net.Sockets;

namespace QuickSilver.Tool.Commands.Options;

// The address that a command listens on.
internal static class ListenAddress
{
    /// <param name="port">The port if the address names none.</param>
    /// <param name="description">What the help says.</param>
    public static Option<IPEndPoint> Create(int port, string description) => new("--listen")
    {
        Description = description,
        HelpName = "HOST[:PORT]",
        CustomParser = result => Parse(result, port),
        DefaultValueFactory = _ => new IPEndPoint(IPAddress.Loopback, port),
    };

    private static IPEndPoint Parse(ArgumentResult result, int defaultPort)
    {
        string text = result.Tokens[^1].Value;
        string host = text;
        int port = defaultPort;
        int colon = text.LastIndexOf(':');
        // An IPv6 address is in brackets if a port follows.
        bool isAddressAlone = text.EndsWith(']') || (text.IndexOf(':') != colon && !text.StartsWith('['));
        if (colon >= 0 && !isAddressAlone)
        {
            host = text[..colon];
            if (!int.TryParse(text.AsSpan(colon + 1), NumberStyles.None, CultureInfo.InvariantCulture, out port)
                || port > IPEndPoint.MaxPort)
            {
                port = -1;
            }
        }

        IPAddress? address = host switch
        {
            "localhost" => IPAddress.Loopback,
            "" or "*" => IPAddress.Any,
            _ => IPAddress.TryParse(host, out IPAddress? parsed) && IsWritten(host, parsed) ? parsed : null,
        };
        if (address is null || port < 0)
        {
            result.AddError($"--listen: '{text}' is not an address and port, such as 10.0.0.1:{defaultPort} or [fd00::1]:{defaultPort}.");
            return new IPEndPoint(IPAddress.Loopback, 0);
        }

        return new IPEndPoint(address, port);
    }

    // "10" is an address of four bytes to the system's parser.
    private static bool IsWritten(string host, IPAddress parsed) =>
        parsed.AddressFamily == AddressFamily.InterNetworkV6 || host.Split('.').Length == 4;
}
