using System.Globalization;
using System.Net;
using System.Net.Sockets;

namespace QuickSilver;

// One server of a membership service as an option names it: a host name or an address, and a port. An IPv6 address is in brackets.
internal readonly record struct ServerAddress(string Host, int Port)
{
    /// <summary>The address, if the host is one.</summary>
    public IPAddress? Address => IPAddress.TryParse(Host, out var address) ? address : null;

    /// <summary>Null if the text is none.</summary>
    public static ServerAddress? Read(string text)
    {
        int colon = text.LastIndexOf(':');
        if (colon <= 0
            || !int.TryParse(text.AsSpan(colon + 1), NumberStyles.None, CultureInfo.InvariantCulture, out int port)
            || port is < 1 or > IPEndPoint.MaxPort)
        {
            return null;
        }

        string host = text[..colon];
        if (host is ['[', .. var inner, ']'])
        {
            return IPAddress.TryParse(inner, out var address) && address.AddressFamily == AddressFamily.InterNetworkV6
                ? new ServerAddress(inner, port)
                : null;
        }

        return host.AsSpan().ContainsAny(" \t\r\n:/[]") ? null : new ServerAddress(host, port);
    }
}
