using Microsoft.Extensions.Options;

namespace QuickSilver.Hosting.Configuration;

// The node's own rules, asked before the host starts rather than after.
internal sealed class OptionsCheck : IValidateOptions<QuickSilverOptions>
{
    public ValidateOptionsResult Validate(string? name, QuickSilverOptions options) =>
        HostingOptionsCheck.Result(name, OptionRules.Failures(options));
}
