using System.Net;
using Microsoft.Extensions.Configuration;

namespace QuickSilver.Hosting;

// The configuration binder has no conversion for addresses and passes over them in silence: they are read here.
internal static class OptionsBinding
{
    public static void Bind(IConfiguration section, QuickSilverOptions options)
    {
        section.Bind(options);
        options.Interface = ReadAddress(section, nameof(options.Interface)) ?? options.Interface;
        options.MulticastBase = ReadAddress(section, nameof(options.MulticastBase)) ?? options.MulticastBase;
    }

    private static IPAddress? ReadAddress(IConfiguration section, string option)
    {
        if (section[option] is not { } text)
        {
            return null;
        }

        return IPAddress.TryParse(text, out var address)
            ? address
            : throw new QuickSilverOptionsException([$"The option {option} is \"{text}\"; allowed is an IPv4 address such as 192.0.2.1."]);
    }
}
